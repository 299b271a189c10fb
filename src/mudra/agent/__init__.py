"""The monitoring agent: runs at an account aggregator, alone.

Counts calls, closes ten-minute windows, spools and pushes them. Knows the
payload types of mudra.metrics and nothing else of the service, and never harms or
waits on the programs it watches.
"""
