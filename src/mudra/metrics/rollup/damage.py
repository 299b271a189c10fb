"""A block of metrics that is not as it was written: which one, so that it can be made again."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

import structlog
from msgspec import Struct

from mudra.metrics.rollup.stale import ALL_AAS
from mudra.shared.unavailable import Outage, ServiceUnavailable

_log = structlog.get_logger()
REPORTED: Final = ("req", "not")
"""The tags of what AAs report; the others are of sums."""
HELD: Final = "held"
"""In place of a grain: a report of a window that is held as implausible."""


class BlockPlace(NamedTuple):
    """The place of a block: the key of its row."""

    aa_id: str
    """Empty for the sums over all AAs."""
    grain: str
    bucket: int
    at: datetime
    """The first time in the block."""
    tag: str
    replaced: int = 0
    """The version of a report that was replaced; 0 for what counts."""

    @property
    def aa(self) -> str:
        """The AA as it is written."""
        return self.aa_id or "all"

    @property
    def is_report(self) -> bool:
        """Return whether it holds what an AA reported, and not sums."""
        of_aa = self.grain == "window" and self.aa_id != ALL_AAS and self.tag in REPORTED
        return of_aa or self.grain == HELD

    def facts(self) -> dict[str, str | int]:
        """Returns the key as it is logged."""
        return {
            "aa_id": self.aa,
            "grain": self.grain,
            "bucket": self.bucket,
            "at": self.at.isoformat(),
            "tag": self.tag,
            **({"replaced": self.replaced} if self.replaced else {}),
        }

    @property
    def words(self) -> str:
        """The key as a person reads it."""
        if self.grain == HELD:
            return f"held report of {self.aa_id} at {self.at.isoformat()}, tag {self.tag}"
        of = "all AAs" if self.aa_id == ALL_AAS else self.aa_id
        replaced = f", replaced version {self.replaced}" if self.replaced else ""
        return (
            f"{self.grain} block of {of} at {self.at.isoformat()}, bucket {self.bucket}, "
            f"tag {self.tag}{replaced}"
        )


class BlockDamaged(ServiceUnavailable):
    """A stored block cannot be read: what was asked for is not answered without it.

    Its place is for the log and the operator; callers get the sentence alone.
    """

    def __init__(self, place: BlockPlace) -> None:
        super().__init__(Outage.DAMAGED, place.words)
        self.place: Final = place


class NothingFiner(Exception):
    """Sums cannot be made again: what they are made of is not kept, or has nothing of that time."""


class DamagedPlace(NamedTuple):
    """A damaged block, and what is wrong with its bytes."""

    place: BlockPlace
    problem: str


class Checked(Struct, frozen=True):
    """The result of a check of all blocks."""

    blocks: int
    damaged: tuple[DamagedPlace, ...]


_counting: list[Callable[[str], None]] = []


def count_damage(count: Callable[[str], None]) -> None:
    """Lets this process count each read of a damaged block; `count` is given its grain."""
    _counting[:] = [count]


def damaged(place: BlockPlace, problem: str) -> BlockDamaged:
    """Returns the error of a damaged block that was met, once it is logged and counted."""
    _log.error("a block of metrics is damaged", **place.facts(), problem=problem)
    for count in _counting:
        count(place.grain)
    return BlockDamaged(place)
