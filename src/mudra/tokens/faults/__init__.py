"""Faults of the sandbox: what a member's client is made to see, for a time, on request.

Never in force outside of the sandbox, and never for another entity than the one that it names.
"""
