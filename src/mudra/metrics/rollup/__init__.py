"""Sums over windows: counts, latency distributions, coverage.

Never judges good or bad.
"""
