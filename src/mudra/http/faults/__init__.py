"""Faults of the sandbox over HTTP: the calls that switch them, and what they do to requests.

Mounted in a sandbox only; never in the way of a request anywhere else.
"""
