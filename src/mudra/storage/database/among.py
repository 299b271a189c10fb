"""Matches a column with one of any number of values."""

from collections.abc import Iterable

import sqlalchemy as sa


def is_among(column: sa.Column[object], values: Iterable[object]) -> sa.ColumnElement[bool]:
    """Returns whether a column has one of these values, which are one parameter.

    `in_` sends each as a parameter of its own: a statement has 65,535 at most, and each number
    of values is another statement to prepare.
    """
    return column == sa.any_(sa.literal(list(values), sa.ARRAY(column.type)))


def is_among_given(column: sa.Column[object], name: str) -> sa.ColumnElement[bool]:
    """Matches as `is_among` does, in a statement that is built once: `name` is given a list."""
    return column == sa.any_(sa.bindparam(name, type_=sa.ARRAY(column.type)))
