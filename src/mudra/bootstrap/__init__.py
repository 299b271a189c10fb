"""Starts the service: settings, clock, wiring, and what the command line gets of them.

`wiring.py` is the one module that knows every adapter. `node/` runs the processes,
`observability/` their logs and metrics. Never holds a rule of the business.
"""
