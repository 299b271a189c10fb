"""Where the agent's events come from: HTTP, OTLP, access logs, a Python call.

Each turns what it is given into the one event type; a source never counts.
"""
