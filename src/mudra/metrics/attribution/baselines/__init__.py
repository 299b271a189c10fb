"""The usual values: rates, latencies, and how each AA reports.

Never names a cause.
"""
