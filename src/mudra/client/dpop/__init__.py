"""Tokens that are bound to a key (DPoP, RFC 9449): proofs made by a client, checked by a peer.

Never stores a key: the program does.
"""
