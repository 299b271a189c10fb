"""Delivers windows to the operator: credentials, retries.

Never gives up while a window is kept.
"""
