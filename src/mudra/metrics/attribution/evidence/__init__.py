"""The counts of one window, and the bad events in them.

Never remembers another window.
"""
