"""The words of the pages, in English and Chinese: one table, so that neither says what the other does not."""

from dlperf.report.words import common, pages, reports

WORDS = {**common.WORDS, **reports.WORDS, **pages.WORDS}
