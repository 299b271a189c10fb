"""Encryption at rest, and the keys for it.

Uses `cryptography`; never implements a primitive itself.
"""
