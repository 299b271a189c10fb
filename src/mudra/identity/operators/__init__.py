"""Operators: the staff who run the network, and what each may do.

Never knows a member's admin (see memberships).
"""
