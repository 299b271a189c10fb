"""Encryption at rest, password hashing, token signing.

Uses `cryptography` and `argon2-cffi`; never implements a primitive itself.
"""
