"""The operator's API.

Never decides: each route calls one use case.
"""
