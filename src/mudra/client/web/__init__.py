"""A member's own HTTP: send our token with each call, and check that of each caller.

Never decides what a caller may do: that is the program's, which gets the verified token.
"""
