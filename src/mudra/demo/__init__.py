"""The sandbox's demonstration network: its members, its traffic and its history.

Never runs outside the sandbox, and never bypasses the service's use cases.
"""
