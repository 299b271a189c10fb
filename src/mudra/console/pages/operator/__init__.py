"""Pages of the operator's staff.

Never decides: each form calls one use case.
"""
