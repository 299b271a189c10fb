"""The schema of the database: its revisions, roles and rights.

Never reads or writes what an area stores.
"""
