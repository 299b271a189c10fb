"""`mudra backup` and `mudra restore`: the dump, the keys, and what follows a restore.

Never prints: commands of `cli` show what these return.
"""
