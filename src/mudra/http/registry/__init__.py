"""Registration and the directory.

Never validates a payload itself (see mudra.registry.payload).
"""
