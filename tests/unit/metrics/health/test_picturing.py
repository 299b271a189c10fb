"""The rows of a picture: one for each subject, in order of AA and FIP, and none without calls."""

import pytest
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.health.picture import Grouping
from mudra.metrics.health.picturing import picture
from mudra.metrics.payload.report import NotificationBlock, RequestBlock
from mudra.metrics.rollup.coverage import Coverage

NONE = Coverage({}, {})
BLOCKS = [
    RequestBlock(code, (100, 200, 300, 400), (10, 10, *[0] * 13))
    for code in ("fif", "cns", "sfireqnot")
] + [NotificationBlock("finot", (5, 5, *[0] * 13), (4, 1, 0, 0, 0, 0, 0))]


@pytest.mark.parametrize("grouping", [*Grouping])
def test_no_calls_are_no_rows(grouping):
    assert picture(totals_of([]), grouping, NONE) == ()


def test_rows_are_in_order_of_aa_and_fip_and_each_has_its_own_apis():
    pairs = [("AA-2", "FIP-1"), ("AA-1", "FIP-2"), ("AA-1", "FIP-1")]
    found = picture(
        totals_of(reported_by(*pair, block) for pair in pairs for block in BLOCKS),
        Grouping.PAIR,
        NONE,
    )

    assert [(row.subject.aa_id, row.subject.fip_id) for row in found] == sorted(pairs)
    for row in found:
        assert {api.type for api in row.apis} == {"fif", "cns", "sfireqnot", "finot"}
        of = {api.type: api for api in row.apis}
        assert (of["sfireqnot"].health, of["cns"].data_bytes, of["fif"].data_bytes) == (
            None,
            None,
            0,
        )
        assert of["finot"].outcomes is not None
        assert of["finot"].outcomes.succeeded == 4
