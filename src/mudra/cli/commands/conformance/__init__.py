"""mudra conformance: the suite of `mudra.conformance` on the command line.

Never holds a check.
"""
