"""Find secrets in texts and replace them by placeholders. Pure."""

from dlperf.redaction.redactor import Found, Redactor
