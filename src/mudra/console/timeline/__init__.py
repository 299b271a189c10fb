"""The pages of the timeline, and what changed before an incident.

Never stores an event.
"""
