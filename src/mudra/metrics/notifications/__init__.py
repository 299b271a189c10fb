"""Who is notified of an incident: by email and by webhook.

Never sends anything itself: messages go to the outbox.
"""
