"""The worst API of two parties: one rule for the matrix and for the lists."""

from collections.abc import Collection, Iterable
from typing import Final

from mudra.metrics.health.health import Health, Status
from mudra.metrics.health.picture import ApiPicture
from mudra.metrics.payload.catalogue import Tag

_ALIKE: Final = 0.1

Recovered = Collection[tuple[Tag, str]]
"""APIs that are bad over the time of the page, and good in the last hour."""


def worst_api(apis: Iterable[ApiPicture], recovered: Recovered = ()) -> ApiPicture | None:
    """Return the API to name for two parties: a bad one if there is any, the least successful.

    A bad one of now comes before one that recovered. Of those that fail alike, within ten points,
    it is the one with the most failed calls: a heartbeat fails with all others, but harms no one.
    None without calls that can succeed.
    """
    found = [(one.health, one) for one in apis if one.health and one.health.success is not None]
    if not found:
        return None
    rank = {id(one): _rank(health, _key(one) in recovered) for health, one in found}
    first = min(rank.values())
    alike = [(h, one) for h, one in found if rank[id(one)] == first]
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
