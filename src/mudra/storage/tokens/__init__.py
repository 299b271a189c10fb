"""Tables and queries of tokens.

Never decides: rows become values of mudra.tokens.
"""
