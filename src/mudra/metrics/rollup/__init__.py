"""Times of metrics: steps and coverage, which sums are stale, how long all is kept.

Never decides between GOOD and BAD.
"""
