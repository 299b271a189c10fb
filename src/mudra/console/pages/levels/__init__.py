"""Pages of service levels: an operator's of all members, a member's own.

Never computes a number: it writes those of the report.
"""
