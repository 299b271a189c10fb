"""Checks of a network's service, one file per subject; they never depend on each other's result.

Each asks the implementation for what it needs. A check that changes something says so in `needs`.
"""
