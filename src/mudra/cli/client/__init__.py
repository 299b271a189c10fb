"""HTTP calls of the member commands, and the tokens they keep.

Never prints.
"""
