"""Checks of a member's API: which tokens it accepts and refuses.

Never calls anything but Heartbeat, and never sends a valid token over plain http elsewhere.
"""
