"""The picture of the network: sums by FIP, AA, pair and API, each with its proof."""

import enum
from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct, field

from mudra.metrics.health.health import FiOutcomes, Health, Status
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import Proof
from mudra.metrics.sums.rollup import ResponseTime
from mudra.shared.refusal import Refusal, RefusalKind

_ALIKE: Final = 0.1
_WEIGHTY: Final = 0.1
"""The part of the most failed calls from which on an API may be the one to name."""

MAX_PAIRS: Final = 4_000
"""Those of a nation are 80,000, with 280,000 APIs in a window: more than a process may hold.

With 14 APIs each: 150 MB while they are added up, and 20 MB of JSON. One AA calls fewer FIPs.
"""

Recovered = Collection[tuple[Tag, str]]
"""APIs that are bad over the time of the page, and good in the last hour."""


class Grouping(enum.StrEnum):
    """The subject of one row of a picture; an empty ID means all."""

    NETWORK = "network"
    FIP = "fip"
    AA = "aa"
    PAIR = "pair"


class Subject(Struct, frozen=True, gc=False):
    """The AA and FIP of a row; empty for all."""

    aa_id: str
    fip_id: str


class ApiPicture(Struct, frozen=True, gc=False):
    """One API: `health` is None for the two timings, which cannot fail."""

    tag: Tag
    type: str
    health: Health | None
    time: ResponseTime | None
    data_bytes: int | None
    outcomes: FiOutcomes | None


class Row(Struct, frozen=True):
    """One subject with its APIs, and the share of expected reports that was received."""

    subject: Subject
    apis: tuple[ApiPicture, ...]
    proof: Proof


class CellDetails(Struct, frozen=True, gc=False, rename="camel"):
    """One AA at one FIP."""

    aa_id: str
    fip_id: str
    status: Status
    """That of the counts, whatever its cause."""
    succeeded: int
    eligible: int = field(name="judged")


class Verdict(Struct, frozen=True):
    """One cause of a cell's troubles in the time of the matrix."""

    aa_id: str
    fip_id: str
    cause: StoredIncident


class Matrix(Struct, frozen=True):
    """AA x FIP, the causes of the time, and which of them explain which cell."""

    cells: tuple[CellDetails, ...]
    causes: tuple[StoredIncident, ...]
    verdicts: tuple[Verdict, ...]


def worst_api(apis: Iterable[ApiPicture], recovered: Recovered = ()) -> ApiPicture | None:
    """Return the API to name for two parties: a bad one if there is any, the least successful.

    A bad one of now comes before one that recovered. Of those that fail alike, within ten points,
    it is the one with the most failed calls: a heartbeat fails with all others, but harms no one.
    One failed call is no share: one counts only from a tenth of the most failed calls on.
    None without calls that can succeed.
    """
    found = [(one.health, one) for one in apis if one.health and one.health.success is not None]
    if not found:
        return None
    rank = {id(one): _rank(health, _key(one) in recovered) for health, one in found}
    first = min(rank.values())
    alike = [(h, one) for h, one in found if rank[id(one)] == first]
    most = max(map(_failed, alike))
    alike = [pair for pair in alike if _failed(pair) >= _WEIGHTY * most]
    least = min(_success(health) for health, _ in alike)
    return max((pair for pair in alike if _success(pair[0]) <= least + _ALIKE), key=_failed)[1]


def failed_calls(health: Health) -> int:
    """Count the calls that failed: by the server's fault, or without an answer."""
    return health.eligible - health.succeeded


def _key(one: ApiPicture) -> tuple[Tag, str]:
    return one.tag, one.type


def _rank(health: Health, recovered: bool) -> int:
    return 2 if health.status is not Status.BAD else int(recovered)


def _success(health: Health) -> float:
    return health.success or 0.0


def _failed(pair: tuple[Health, ApiPicture]) -> int:
    return failed_calls(pair[0])


class TooManyPairs(Refusal, frozen=True):
    """A row for each pair of AA and FIP was asked for, in a network with very many."""

    kind = RefusalKind.INVALID

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"aaId or fipId is required: more than {MAX_PAIRS:,} pairs of AA and FIP "
            "reported in this time; name one of them, or ask for aas, fips or the matrix"
        )
