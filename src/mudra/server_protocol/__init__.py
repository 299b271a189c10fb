"""The HTTP server that the service and the agent have in common.

Connections with limits, the bytes of bodies, and the status of a refusal. Never knows a
framework, an address or a field.
"""
