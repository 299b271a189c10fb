"""The embedded PostgreSQL server of one machine.

Never used when `MUDRA_DATABASE_URL` is set.
"""
