"""The public status: the last 24 hours, 90 days and incidents, as everyone may see them.

Never names an AA, and never asks who reads it.
"""
