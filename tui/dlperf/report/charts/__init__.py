"""Charts as SVG inside the page: pure functions from numbers to one line of HTML.

They need no script, so they are there on paper, in a folder and in a reader without JavaScript; colours come from the
style sheet, which has a set for the light and one for the dark theme. Every chart stands beside a table that has the
same figures: the picture has one label for a screen reader, the table has the numbers.
"""
