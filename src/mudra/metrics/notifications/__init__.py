"""Notifications of incidents: the recipients, by email and by webhook.

Never sends anything itself: messages go to the outbox.
"""
