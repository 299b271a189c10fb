"""Checks too slow for a worker's event loop, run in a process of their own.

Never opens a database connection.
"""
