"""A valid payload as the store takes it: made without a database, also in a process apart."""

from typing import Final

import msgspec

from mudra.metrics.payload.catalogue import Position, Tag
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import CheckedReport
from mudra.metrics.sums.report_cells import encode_report

_SHORT: Final = {tag: tag.value[:3] for tag in Tag}
_LONG: Final = {short: tag for tag, short in _SHORT.items()}
_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(list[tuple[int, bytes]]).decode


def storable(checked: CheckedReport) -> StorableReport:
    """Returns a valid payload in the form in which `PostgresReports` stores it."""
    blocks = [block for fip in checked.report.fips for block in fip.metrics]
    return StorableReport(
        checked.aa_id,
        checked.txn_id,
        checked.tag,
        checked.window,
        checked.content_hash,
        checked.fip_ids,
        checked.notes,
        buckets=_pack(encode_report(checked)),
        blocks=len(blocks),
        calls=sum(block.counts[Position.TOTAL] for block in blocks),
        longest_ms=max(
            (block.pxx[-1] for block in blocks if isinstance(block, RequestBlock)), default=0
        ),
        agent_version=checked.report.agent_version,
    )


def buckets_in(stored: bytes) -> list[tuple[int, bytes]]:
    """Returns the encoded blocks of `StorableReport.buckets`, each with its bucket."""
    return _unpack(stored)


def short_tag(tag: Tag) -> str:
    """Returns the tag as the tables store it."""
    return _SHORT[tag]


def long_tag(short: str) -> Tag:
    """Returns the tag of a row."""
    return _LONG[short]
