"""Error budgets of the month that runs: what is left, how fast it goes, and the alarm.

Never says what counts: the numbers are those of a report of the same time.
"""
