"""The board of operators: what is broken, and what needs attention this week.

Reads what other areas decided. Never changes their state.
"""
