"""Tables and queries of the registry.

Never decides: rows become values of mudra.registry.
"""
