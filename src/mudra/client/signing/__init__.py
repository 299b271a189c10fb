"""Signatures over the bodies that members send each other.

Never trusts a key that the message itself brings.
"""
