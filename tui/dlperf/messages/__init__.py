"""What dlperf states, as codes with parameters, and the texts that they give in each language.

Screens and pages are in the reader's language. Commands print English, so that scripts see the same text everywhere.
"""

from dlperf.messages.current import _, language, pgettext, render, use_language
from dlperf.messages.language import CHINESE, CODES, ENGLISH, LANGUAGES, Code, Language, preferred_language
from dlperf.messages.message import Message, Value, message, quoted
from dlperf.messages.texts import N_
