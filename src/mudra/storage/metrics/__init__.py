"""Tables and queries of network metrics.

Never decides: rows become values of mudra.metrics.
"""
