"""Waiting in turn, limits of a rate, and values that are made once for all who ask.

Never knows what is waited for.
"""
