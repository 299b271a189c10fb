"""Tokens that end before they expire.

Never reads storage: what has ended comes in by a port.
"""
