"""The caller: users, entities and operators, from the Authorization header.

Never decides what a caller may do.
"""
