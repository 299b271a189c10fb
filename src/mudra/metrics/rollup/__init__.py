"""Sums over windows: counts, latency distributions, coverage.

Never decides between GOOD and BAD.
"""
