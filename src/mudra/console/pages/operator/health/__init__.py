"""Pages of the network's health: the matrix, one member, incidents, silences.

Never decides: each form calls one use case.
"""
