"""Where the agent's events come from: HTTP, OTLP, access logs, a Python call.

Each source turns what it hears into values of `event.py` and never counts,
waits or writes. `route.py` says which calls count and whose they are,
`body.py` reads sessions, statuses and sizes. `python_call.py` and
`middleware.py` run in the AA's own programs and need the base install only.
"""
