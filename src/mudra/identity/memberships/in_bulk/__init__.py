"""Acts on many members: one act on those of a list, and the members of a file.

Never does what an act on one member may not do.
"""
