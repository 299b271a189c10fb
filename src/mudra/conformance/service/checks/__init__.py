"""Checks of a token service, one file per subject, and their catalogue.

They never depend on each other's result.
"""
