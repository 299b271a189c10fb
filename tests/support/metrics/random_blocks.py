"""Blocks of reports as a network might send them, and as none would, for properties of sums."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace
from tests.support.metrics.metrics_payloads import notification_metrics, request_metrics

from mudra.metrics.payload.catalogue import NotificationType, RequestType, Tag
from mudra.metrics.payload.report import (
    Block,
    NotificationBlock,
    NotificationFip,
    RequestBlock,
    RequestFip,
)
from mudra.metrics.payload.validation import CheckedReport

MOST = 2**53 - 1
FEW = st.integers(0, 12)
CALLS = st.one_of(FEW, st.integers(0, 3000), st.integers(0, MOST // 20))
TIMES = st.one_of(
    st.integers(0, 20), st.integers(4500, 5600), st.integers(0, 70_000), st.integers(0, MOST)
)
SIZES = st.one_of(FEW, st.integers(0, 2**70), st.integers(0, 10**40), st.just(10**4000 - 1))
FIP_IDS = ("FIP-B", "FIP-A", "FIP-C")


class Reported(NamedTuple):
    """A block with all that it counts for."""

    at: int
    aa_id: str
    tag: Tag
    fip_id: str
    block: Block


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, ...]:
    """The fifteen counts of a valid block: often few, sometimes as many as may be."""
    answers = [0] * 14
    answers[0] = draw(CALLS)
    for _ in range(draw(st.integers(0, 3))):
        answers[draw(st.integers(0, 13))] = draw(CALLS)
    silent = draw(st.sampled_from((0, 0, 1, 5, MOST)))
    return (min(sum(answers) + silent, MOST), *answers)


@st.composite
def request_blocks(draw: st.DrawFn, code: RequestType) -> RequestBlock:
    pxx = tuple(sorted(draw(st.tuples(TIMES, TIMES, TIMES, TIMES))))
    size = str(draw(SIZES)) if code is RequestType.FI_FETCH else UNSET
    return RequestBlock(code.value, pxx, draw(counts()), size)


@st.composite
def notification_blocks(draw: st.DrawFn, code: NotificationType) -> NotificationBlock:
    status = draw(st.tuples(*[FEW] * 7)) if code is NotificationType.FI else UNSET
    return NotificationBlock(code.value, draw(counts()), status)


@st.composite
def reported(draw: st.DrawFn) -> Reported:
    """A block of one of two AAs to one of three FIPs in one of four windows."""
    tag = draw(st.sampled_from(Tag))
    block = (
        request_blocks(draw(st.sampled_from(RequestType)))
        if tag is Tag.REQUESTS
        else notification_blocks(draw(st.sampled_from(NotificationType)))
    )
    at, aa_id = draw(st.integers(0, 3)), draw(st.sampled_from(("AA-1", "AA-2")))
    return Reported(2_900_000 + at, aa_id, tag, draw(st.sampled_from(FIP_IDS)), draw(block))


def reported_once(max_size: int = 40) -> st.SearchStrategy[list[Reported]]:
    """Blocks as they can be stored together: one of each AA, FIP, type and window."""
    return st.lists(
        reported(),
        min_size=1,
        max_size=max_size,
        unique_by=lambda one: (one.at, one.aa_id, one.tag, one.fip_id, one.block.type),
    )


def reports_of(blocks: Sequence[Reported]) -> list[CheckedReport]:
    """The reports in which AAs would send these blocks."""
    found = []
    for at, aa_id, tag in sorted({(one.at, one.aa_id, one.tag) for one in blocks}):
        mine = [one for one in blocks if (one.at, one.aa_id, one.tag) == (at, aa_id, tag)]
        found.append(report_of(at, aa_id, tag, mine))
    return found


def report_of(at: int, aa_id: str, tag: Tag, blocks: Sequence[Reported]) -> CheckedReport:
    """A valid report of these blocks, as its check returns it."""
    fip_ids = tuple(dict.fromkeys(one.fip_id for one in blocks))
    one_fip, empty = (
        (RequestFip, request_metrics(0))
        if tag is Tag.REQUESTS
        else (NotificationFip, notification_metrics(0))
    )
    fips = tuple(
        one_fip(fip_id, tuple(one.block for one in blocks if one.fip_id == fip_id))
        for fip_id in fip_ids
    )
    return CheckedReport(
        aa_id,
        "txn",
        tag,
        datetime.fromtimestamp(at * 600, UTC),
        b"",
        fip_ids,
        report=replace(empty, aa_id=aa_id, fips=fips),
    )
