"""Tables and queries of identity.

Never decides: rows become values of mudra.identity.
"""
