"""Operators' announcements on the public status: written, changed, ended, sent to subscribers.

Never detected: incidents that metrics show are in `metrics/incidents`.
"""
