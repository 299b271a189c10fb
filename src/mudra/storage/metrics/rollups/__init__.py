"""Sums of hours and days in PostgreSQL: written, read, and counted again.

Never decides which sums are stale or how they add up: that is metrics/rollup.
"""
