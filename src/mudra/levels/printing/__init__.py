"""Reports as they are shown and printed: the texts of their numbers, CSV, PDF, the league table.

Never computes a number: it writes those of the report.
"""
