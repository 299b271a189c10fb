"""A member's own copy of the registry, proven complete and usable offline.

Never serves what the registry did not sign, nor a copy whose hash differs from the registry's.
"""
