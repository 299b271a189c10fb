"""Timed and queued work: outbox, reminders, key rotation, roll-ups.

Each job calls one use case; `scheduler.py` runs it once in the network for each
time slot. Never contains a rule: a job run twice does no more than once.
"""
