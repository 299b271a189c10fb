"""The sandbox: its demonstration network with traffic and history, and the faults of its members.

Never runs outside the sandbox, and never bypasses the service's use cases.
"""
