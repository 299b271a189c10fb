"""Blocks of metrics in PostgreSQL: stored with each push, added up by the hour and day, and read.

Never decides what is GOOD or BAD, and never takes a damaged block for an empty one.
"""
