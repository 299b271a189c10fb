"""The statements of attribution: causes, where they lie, and how they are doing."""

import enum
from typing import Final

from msgspec import Struct

from mudra.metrics.attribution.evidence.lanes import Flags, Symptom, explained_lanes


class Kind(enum.StrEnum):
    """The kind of place of a cause."""

    NETWORK = "network"
    FIP = "fip"
    FIP_API = "fip-api"
    AA = "aa"
    AA_API = "aa-api"
    PATH = "path"
    AGENT = "agent"


class CauseStatus(enum.StrEnum):
    """The state of a cause by this window."""

    NEW = "new"
    BAD = "bad"
    UNKNOWN = "unknown"
    """Too few calls to tell, or none."""
    GOOD = "good"
    RECOVERED = "recovered"
    """Enough good windows: the cause is over, and is not reported again."""
    NO_DATA = "no-data"
    """A day without evidence either way: given up, and not reported again."""
    CHANGED = "changed"
    """Some calls fail, or calls are slow, for so long that it is usual from now on."""


ENDINGS: Final = frozenset({CauseStatus.RECOVERED, CauseStatus.NO_DATA, CauseStatus.CHANGED})


class Locus(Struct, frozen=True, order=True):
    """The place of a cause; indices are those of the evidence, -1 where the kind has none."""

    kind: Kind
    aa: int = -1
    fip: int = -1
    apis: tuple[str, ...] = ()
    """Sorted; empty for all of them."""

    @property
    def cells(self) -> tuple[slice, slice]:
        """Its AAs and FIPs in the arrays of the evidence; all where it has none."""
        aas, fips = (slice(None) if one < 0 else slice(one, one + 1) for one in (self.aa, self.fip))
        return aas, fips

    def covers(self, other: "Locus") -> bool:
        """Return whether all that the other explains lies within this place."""
        return (
            (self.aa in {-1, other.aa})
            and (self.fip in {-1, other.fip})
            and (not self.apis or (bool(other.apis) and set(other.apis) <= set(self.apis)))
            and Kind.AGENT not in {self.kind, other.kind}
        )


class Cause(Struct, frozen=True):
    """One cause, as far as the evidence up to this window supports it."""

    number: int
    """Stays the same from window to window, also when the place is corrected."""
    locus: Locus
    symptoms: tuple[Symptom, ...]
    since: int
    """The window in which its evidence began."""
    status: CauseStatus
    calls: float
    """Events of this window of the first symptom, in the cells that are affected; of failures and
    of 4xx at all APIs those of requests. An incident keeps those of its last bad window."""
    failures: float
    expected: float
    """Failures that the baseline predicts for so many calls."""
    strength: float
    """Log-likelihood ratio of all bad windows together, in nats."""
    affected_aas: tuple[int, ...]
    affected_fips: tuple[int, ...]
    affected_apis: tuple[str, ...]
    ambiguous_with: tuple[Locus, ...] = ()
    """Places that explain the evidence equally well."""
    earlier: tuple[int, ...] = ()
    """Bad windows that were found with this one."""
    of_heartbeats: bool = False
    """Whether `calls` are heartbeats alone: no customer called in that window."""
    few_fail: bool = False
    """Whether few calls fail, over all its bad windows: an incident's, for the feed."""
    absorbed: tuple[int, ...] = ()
    """Numbers of causes that turned out to be this one, in this window."""


def locus_lanes(locus: Locus, symptoms: frozenset[Symptom]) -> Flags:
    """The lanes that a cause at this place explains."""
    return explained_lanes(symptoms, frozenset(locus.apis) if locus.apis else None)


OF_TIMES: Final = frozenset({Symptom.SLOW, Symptom.TAIL})
SAME_TROUBLE: Final = frozenset(Symptom) - {Symptom.CLIENT_ERRORS}
"""Symptoms that at one place are one cause; refused requests are the sender's own affair."""


def may_be_one(first: frozenset[Symptom], second: frozenset[Symptom]) -> bool:
    """Return whether two sets of symptoms at one place can come from one cause."""
    return bool(first & second) or (first <= SAME_TROUBLE and second <= SAME_TROUBLE)
