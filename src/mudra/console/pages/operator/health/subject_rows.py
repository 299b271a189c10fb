"""The rows of a page of health: by API, and by the members on the other side, in their order.

An open incident disrupts an API now, however well it was over the time of the page. The rule is
that of the public status: failing, and not over.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from mudra.console.health.health_query import HealthQuery
from mudra.console.health.tables import ApiRow, api_rows, counterpart_path
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import ApiPicture, Row, failed_calls, worst_api
from mudra.metrics.incidents.explanation import concerns
from mudra.metrics.incidents.incident import Fip, FipApi, Incident, Path, StoredIncident
from mudra.metrics.incidents.subject import codes_of, fip_of, name_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES, Tag


class Disruptions(Struct, frozen=True):
    """The incidents that disrupt APIs now."""

    incidents: tuple[Incident, ...]
    ids: tuple[str, ...]

    @classmethod
    def of(cls, stored: Iterable[StoredIncident]) -> "Disruptions":
        """Returns the incidents that fail and are not over."""
        found = [one for one in stored if one.incident.failing and one.incident.ended is None]
        return cls(
            tuple(one.incident for one in found), tuple(sorted(one.incident_id for one in found))
        )

    def hit(self, code: str, aa_id: str | None, fip_id: str | None) -> bool:
        """Returns whether one is at this API of an AA, of a FIP, or of a pair of both.

        What reaches an AA or a FIP from another member hits the pair alone.
        """
        return any(
            code in (codes_of(one.subject) or CUSTOMER_CODES)
            and (concerns(one, aa_id, fip_id) if aa_id and fip_id else _is_at(one, aa_id, fip_id))
            for one in self.incidents
        )


def _is_at(one: Incident, aa_id: str | None, fip_id: str | None) -> bool:
    if isinstance(one.subject, Path):
        return False
    if isinstance(one.subject, Fip | FipApi):
        return fip_of(one.subject) == fip_id
    return name_of(one.subject).entity_id == aa_id


def rows_by_api(
    apis: Sequence[ApiPicture],
    view: HealthQuery,
    first: str,
    disruptions: Disruptions,
    of: tuple[str | None, str | None],
) -> list[ApiRow]:
    """Returns the APIs of an AA, a FIP or both (`of`): the first, then requests by trouble."""
    rows = api_rows(apis, view, lambda code: disruptions.hit(code, *of))
    return sorted(
        rows,
        key=lambda row: (row.api.type != first, row.api.tag is not Tag.REQUESTS, *_trouble(row)),
    )


def rows_by_other(
    rows: Sequence[Row],
    view: HealthQuery,
    names: Mapping[str, str],
    disruptions: Disruptions,
    who: str,
    *,
    every: bool,
) -> list[ApiRow]:
    """Returns one row for each counterpart, with its worst API; with `every` one for each API.

    Of an API that is asked for only that one. Its pair's page, to which a row leads, has all.
    """
    found, query = [], view.query()
    for row in rows:
        subject = row.subject
        path = counterpart_path(subject.aa_id, subject.fip_id, query)
        other = subject.aa_id if who == "AA" else subject.fip_id
        apis = [
            one
            for one in row.apis
            if one.tag is Tag.REQUESTS and one.health and view.code in {"", one.type}
        ]
        now = [one for one in apis if disruptions.hit(one.type, subject.aa_id, subject.fip_id)]
        worst = worst_api(now) or worst_api(apis) or next(iter(apis), None)
        chosen = apis if every else [worst] if worst else []
        name = names.get(other, other)
        found += [ApiRow(name, path, one, other, is_disrupted=one in now) for one in chosen]
    return sorted(found, key=_trouble)


def _trouble(row: ApiRow) -> tuple[bool, int, int]:
    """Returns what sorts bad and disrupted rows first, then by failed calls, then by calls."""
    health = row.api.health
    if health is None:
        return (True, 0, 0)
    is_well = health.status is not Status.BAD and not row.is_disrupted
    return (is_well, -failed_calls(health), -health.total)
