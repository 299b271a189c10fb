"""Reminders before a secret expires (decisions.md 3).

Never sends mail: it posts to the outbox.
"""
