"""The calls about disputes: a member's own, and those of operators.

Never decides: `mudra.disputes` does.
"""
