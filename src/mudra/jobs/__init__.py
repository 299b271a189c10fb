"""Timed and queued work: outbox, reminders, key rotation, roll-ups.

Each job calls one use case; procrastinate keeps queue and schedule in the
same PostgreSQL. Never holds a rule: a job run twice does no more than once.
"""
