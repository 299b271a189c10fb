"""Items that need attention, for operators and members, and the outbox of email.

Reads what the other areas decided and orders it by urgency. Never changes their state.
"""
