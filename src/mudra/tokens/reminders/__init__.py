"""Reminders before a secret expires.

Never sends mail: it posts to the outbox.
"""
