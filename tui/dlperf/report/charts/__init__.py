"""Charts as SVG: pure functions from numbers to one line of HTML that needs no script.

Colours come from the style sheet, one set for each theme. A table beside each chart holds the same numbers.
"""
