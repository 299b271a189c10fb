"""Backups: the dump of PostgreSQL, encrypted, with its description and checksum.

Never writes to a disk what is not encrypted; who may restore is not decided here.
"""
