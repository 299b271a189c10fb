"""The processes of a node: how they start, are supervised, and stop.

Never builds an adapter: that is `dependencies.py` and `wiring.py` one level up.
"""
