"""Letters: composing them and handing them to an SMTP server.

Never decides who gets what: the outbox row says it.
"""
