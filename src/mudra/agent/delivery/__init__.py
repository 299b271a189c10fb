"""Delivers windows to the operator: credentials, retries.

Never gives up on a window that is still on the disk.
"""
