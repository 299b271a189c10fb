"""Comparisons of members and of times: the consent and data funnel, quartiles, forecasts.

It reads sums of `metrics` and adds nothing up itself. It never names a member to another one, and
never shows a member the figures of fewer than five others.
"""
