"""Sets a machine up (`mudra setup`): settings, keys, units, database and the first operator.

It starts no service and never replaces a key that is there.
"""
