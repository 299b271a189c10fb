"""Faults of the sandbox: what a member's client is made to see, for a time, on request.

Its middleware, its handlers and its page are mounted in the sandbox only; credentials and keys that
a fault changes pass through `fault_board`. Never in force for another entity than the one that it
names.
"""
