"""The mail outbox.

Never talks to a mail server.
"""
