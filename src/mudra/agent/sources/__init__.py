"""The sources of the agent's events: HTTP, OTLP, access logs, a Python call.

Each source turns what it receives into values of `event.py`. Never counts, waits or
writes. `route.py` decides which calls count and for which FIP, `body.py` reads
sessions, statuses and sizes. `python_call.py` and
`middleware.py` run in the AA's own programs and need the base install only.
"""
