"""The agent's spool on disk.

Never drops a window before it is delivered or seven days old.
"""
