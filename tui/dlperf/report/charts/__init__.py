"""Charts as SVG: pure functions that return one line of HTML without scripts.

Colours come from the style sheet, one set for each theme. A table beside each chart holds the same numbers.
"""
