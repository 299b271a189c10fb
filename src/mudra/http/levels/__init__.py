"""Service levels: targets and reports, for operators and members.

Never computes a number: `levels` does.
"""
