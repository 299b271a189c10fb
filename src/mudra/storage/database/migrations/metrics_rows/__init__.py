"""Turns the rows of metrics of 1.0.0 into blocks: the slow part of revision 0027.

Frozen: it reads what a release of the past wrote, and is never changed with the application. It
uses `metrics/sums` and nothing else of it. What it writes says its form in its first field, so a
later form that reads this one reads what was converted too.
"""
