"""Finds the AAs of a table of sums without reading all of it."""

import sqlalchemy as sa


def aas_with_rows(table: sa.Table) -> sa.CTE:
    """Returns the AAs with rows, and NULL at last; a month has 500 million rows.

    Each is found by an index that begins with `aa_id`.
    """
    c = table.c
    aas = sa.select(sa.func.min(c.aa_id).label("aa_id")).cte("aas", recursive=True)
    following = sa.select(sa.func.min(c.aa_id)).where(c.aa_id > aas.c.aa_id).scalar_subquery()
    return aas.union_all(sa.select(following).where(aas.c.aa_id.is_not(None)))
