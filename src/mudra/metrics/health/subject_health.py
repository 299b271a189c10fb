"""The health of one AA, FIP or pair, or of one API of all, by counterpart and together."""

from msgspec import Struct

from mudra.metrics.health.health import Disputed, Health
from mudra.metrics.health.picture import ApiPicture, Grouping, Row
from mudra.metrics.health.picturing import picture
from mudra.metrics.rollup.coverage import Coverage
from mudra.metrics.rollup.series import health_of_all
from mudra.metrics.sums.totals import Totals


class HealthOfSubject(Struct, frozen=True):
    """The health of an AA, a FIP, a pair, or of one API of all: by counterpart, and of all."""

    rows: tuple[Row, ...]
    apis: tuple[ApiPicture, ...]
    whole: Health | None
    """Of all calls, or of those of the requested API."""
    disputed: Disputed
    coverage: Coverage


class Subject(Struct, frozen=True):
    """An AA, a FIP or a pair; without either, one type of request or all."""

    aa_id: str | None
    fip_id: str | None
    code: str


def health_of_subject(
    totals: Totals, subject: Subject, coverage: Coverage, disputed: Disputed
) -> HealthOfSubject:
    """Returns the health of a subject from its sums by AA, type and FIP."""
    of_one_side = (subject.aa_id is None) != (subject.fip_id is None)
    of_all = picture(totals, _itself(subject), coverage, disputed)
    return HealthOfSubject(
        picture(totals, Grouping.PAIR if of_one_side else Grouping.FIP, coverage, disputed),
        of_all[0].apis if of_all else (),
        health_of_all(totals, subject.code),
        disputed,
        coverage,
    )


def _itself(subject: Subject) -> Grouping:
    if subject.aa_id and subject.fip_id:
        return Grouping.PAIR
    return Grouping.FIP if subject.fip_id else Grouping.NETWORK
