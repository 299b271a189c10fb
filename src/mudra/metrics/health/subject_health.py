"""The health of one AA, FIP or pair, or of one API of all, by counterpart and together."""

from collections.abc import Mapping

from msgspec import Struct

from mudra.metrics.health.health import Health
from mudra.metrics.health.picture import (
    ApiPicture,
    Coverage,
    Grouping,
    PictureInParts,
    Row,
    by_subject,
    picture,
)
from mudra.metrics.health.weighing import Disputed, Weighed, weigh_apis
from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.series import health_of_all


class HealthOfSubject(Struct, frozen=True):
    """The health of an AA, a FIP, a pair, or of one API of all: by counterpart, and of all."""

    rows: tuple[Row, ...]
    apis: tuple[ApiPicture, ...]
    whole: Health | None
    """Of all calls, or of those of the requested API."""
    disputed: Disputed
    coverage: Coverage


class SubjectInParts:
    """The health of a subject, made of the sums of some types after those of others."""

    def __init__(self, aa_id: str | None, fip_id: str | None) -> None:
        of_one_side = (aa_id is None) != (fip_id is None)
        self._others = PictureInParts(Grouping.PAIR if of_one_side else Grouping.FIP)
        self._itself = Grouping.NETWORK if aa_id or not fip_id else Grouping.FIP
        self._own: dict[Cell, Rollup] = {}
        self.weighed: dict[tuple[str, str], Weighed] = {}
        """The APIs of FIPs whose status is not that of their sums, of sums by AA."""

    def add(self, totals: Mapping[Cell, Rollup]) -> None:
        """Adds all sums of some types."""
        self._others.add(totals)
        self._own |= by_subject(totals, self._itself)
        self.weighed |= weigh_apis(totals)

    def health(self, code: str, coverage: Coverage, disputed: Disputed) -> HealthOfSubject:
        """Returns the health; `whole` is that of this type of request, or of all calls."""
        of_all = picture(self._own, self._itself, coverage, disputed)
        return HealthOfSubject(
            self._others.rows(coverage, disputed),
            of_all[0].apis if of_all else (),
            health_of_all(self._own.items(), code),
            disputed,
            coverage,
        )
