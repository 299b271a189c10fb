"""The public status: its pages, files for programs, and subscriptions.

Never names an AA, and never asks who reads it.
"""
