"""Counts the calls of an incident from the reports that are stored."""

import numpy as np

from mudra.metrics.health.judging import eligible, succeeded
from mudra.metrics.incidents.counted_calls import CallsOfIncident
from mudra.metrics.payload.catalogue import (
    CALL_CODES,
    WINDOW,
    NotificationType,
    Tag,
    window_number,
)
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.questions import BlockQuestions


async def counted_calls(tx: Transaction, calls: CallsOfIncident) -> tuple[int, int]:
    """Returns the calls that succeeded, and all but 4xx, in its bad windows."""
    if not calls.windows:
        return 0, 0
    questions = BlockQuestions(tx)
    requests = [api for api in calls.apis if api in CALL_CODES]
    received = [one.value for one in NotificationType if one.api in calls.apis]
    parts: list[Totals] = []
    if requests:
        within = TimeRange(calls.windows[0], calls.windows[-1] + WINDOW)
        found = await questions.steps(
            within, Step.WINDOW, requests, aa_id=calls.aa_id, fip_id=calls.fip_id
        )
        bad = np.isin(found.cells.keys["at"], [window_number(at) for at in calls.windows])
        parts.append(Totals(found.cells.chosen(bad), found.ids))
    if received:
        for window in calls.windows:
            heard = (await questions.heard(window)).totals.only(Tag.NOTIFICATIONS, received)
            parts.append(_at_ends(heard, calls))
    good = sum(int(succeeded(one.cells).sum()) for one in parts)
    return good, sum(int(eligible(one.cells).sum()) for one in parts)


def _at_ends(totals: Totals, calls: CallsOfIncident) -> Totals:
    ends = zip(totals.aa_ids(), totals.fip_ids(), strict=True)
    here = [calls.aa_id in {None, aa} and calls.fip_id in {None, fip} for aa, fip in ends]
    return Totals(totals.cells.chosen(np.array(here, np.bool_)), totals.ids)
