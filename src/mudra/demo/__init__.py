"""The sandbox's demonstration network: its members, its traffic and its past.

Never runs outside the sandbox, and never takes a shortcut around the service's own use cases.
"""
