"""Caches of a node, and how they are invalidated (decision 0003).

Never returns a cached value that is not proven valid.
"""
