"""Rows of the network's health with their proof: the one way for the API and the console."""

from datetime import datetime

from mudra.metrics.health.picture import Coverage, Grouping, Row, expected_windows, picture
from mudra.metrics.rollup.coverage import TimeRange
from mudra.unit_of_work import UnitOfWork


async def rows_of(  # whom and when, and what to ask
    asked: TimeRange,
    grouping: Grouping,
    now: datetime,
    work: UnitOfWork,
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Row, ...]:
    """Give the picture of a time, of one AA or FIP where that is named."""
    heard = await coverage(asked, now, work, aa_id)
    return await rows_with(heard, asked, grouping, work, aa_id=aa_id, fip_id=fip_id)


async def rows_with(
    heard: Coverage,
    asked: TimeRange,
    grouping: Grouping,
    work: UnitOfWork,
    *,
    aa_id: str | None = None,
    fip_id: str | None = None,
) -> tuple[Row, ...]:
    """Do the same where it is known what was heard."""
    if aa_id is None and grouping in {Grouping.NETWORK, Grouping.FIP}:
        totals = await work.figures.over_aas(asked, fip_id=fip_id)
    else:
        totals = await work.figures.totals(asked, aa_id=aa_id, fip_id=fip_id)
    return picture(totals, grouping, heard)


async def coverage(
    asked: TimeRange, now: datetime, work: UnitOfWork, aa_id: str | None = None
) -> Coverage:
    """Say what was to be heard in a time, and what was."""
    since = await work.aas_and_fips.reporting_aas()
    if aa_id is not None:
        since = {aa: begin for aa, begin in since.items() if aa == aa_id}
    return Coverage(expected_windows(asked, since, now), await work.figures.heard(asked))
