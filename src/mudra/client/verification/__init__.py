"""Verifies a token offline: its outer form, the issuer's keys, its content.

Never fetches: the two verifiers one level up do.
"""
