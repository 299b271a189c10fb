"""What every user of the database may meet, apart from the drivers that it takes to meet it."""


class DatabaseUnavailable(Exception):
    """The database did not answer; whether a write took place is not known (quality F3, S6)."""
