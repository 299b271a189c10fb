"""What is usual: rates, latencies, and how each AA reports.

Never names a cause.
"""
