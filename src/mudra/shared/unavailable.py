"""The one failure of the database that every edge handles."""


class DatabaseUnavailable(Exception):
    """The database did not answer; it is unknown whether a write took place (quality F3, S6)."""
