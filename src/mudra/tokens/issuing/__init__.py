"""The claims of issued tokens, and how many were issued.

Never signs: the signer is a port.
"""
