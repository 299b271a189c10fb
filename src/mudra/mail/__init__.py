"""Email: composes it and sends it to an SMTP server.

Never decides who gets what: the outbox row says it.
"""
