"""Library for members' own programs: tokens, verification, directory.

Never depends on the service's own rooms.
"""
