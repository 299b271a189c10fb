"""The body of a request: counted, unpacked, and parsed in one way only.

Never knows what a body means.
"""
