"""Causes: found, joined with known ones, followed until they end.

Never reads a store.
"""
