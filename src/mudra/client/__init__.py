"""Library for members' own programs: tokens, verification, directory.

Depends on nothing of the service.
"""
