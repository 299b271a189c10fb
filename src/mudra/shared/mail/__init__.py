"""Emails as values: what is said to whom, and the text of one.

Never sends one.
"""
