"""Where the agent's events come from: HTTP, OTLP, access logs, a Python call."""
