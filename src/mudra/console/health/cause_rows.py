"""The board's rows: one for each cause that operators have to act on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.console.health.callable_members import Callee
from mudra.console.health.incident_state import StateNow, state_now
from mudra.console.health.labels import SEVERITY_TONES, headline, operator_path_of, subject_ids
from mudra.localization.language import gettext, ngettext
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Incident,
    Path,
    StoredIncident,
)
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.incidents.verdict import Reach, reach_of
from mudra.metrics.notifications.alarm import ambiguity
from mudra.metrics.notifications.severity import Severity, severity_of
from mudra.metrics.payload.catalogue import CALL_CODES, CUSTOMER_CODES

_NAMED: Final = 3
_ALL: Final = frozenset(CALL_CODES)
"""The APIs that can succeed or fail: their names one by one would say less than "all"."""
_FOR_CUSTOMERS: Final = frozenset(CUSTOMER_CODES)


class CauseRow(Struct, frozen=True):
    """One cause: what is broken, whom it affects, since when, and who has it."""

    path: str
    what: str
    ids: str
    """The members that it is at, by ID: the headline has their names."""
    severity: Severity
    apis: str
    members: str
    calls_a_minute: float | None
    began: datetime
    owner: str
    state: StateNow
    doubt: str
    """What the evidence does not separate; empty when the cause is certain."""
    incident_id: str
    callee: Callee | None
    """Whom to call about it; None where no member at the cause has a telephone."""

    @property
    def tone(self) -> str:
        """The tone of its severity."""
        return SEVERITY_TONES[self.severity]


def cause_rows(
    found: Iterable[StoredIncident],
    judged_until: datetime | None,
    now: datetime,
    never_reported: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    called: Mapping[str, Callee] | None = None,
) -> list[CauseRow]:
    """Returns one row for each incident: first those that are bad now, by the calls they affect.

    What recovers comes after them, and an agent that is silent after calls that fail.
    """
    known = names or {}
    rows = [
        _row(one, state_now(one, judged_until, now), never_reported, known, called or {})
        for one in found
    ]

    def rank(row: CauseRow) -> tuple[bool, float, float]:
        return row.state.recovering, -(row.calls_a_minute or 0), -row.began.timestamp()

    return sorted(rows, key=rank)


def silent_aas(found: Iterable[StoredIncident]) -> list[str]:
    """Returns the AAs of which no report comes."""
    subjects = (one.incident.subject for one in found)
    return [subject.aa_id for subject in subjects if isinstance(subject, AaReporting)]


def _what(
    incident: Incident, state: StateNow, never_reported: Collection[str], names: Mapping[str, str]
) -> str:
    subject = incident.subject
    if isinstance(subject, AaReporting) and subject.aa_id in never_reported:
        return gettext("%(aa)s: never reported", aa=names.get(subject.aa_id, subject.aa_id))
    return headline(incident, names, recovering=state.recovering)


def _row(
    stored: StoredIncident,
    state: StateNow,
    never_reported: Collection[str],
    names: Mapping[str, str],
    called: Mapping[str, Callee],
) -> CauseRow:
    incident = stored.incident
    reach = reach_of(incident)
    return CauseRow(
        operator_path_of(stored),
        _what(incident, state, never_reported, names),
        subject_ids(incident.subject),
        severity_of(incident),
        apis_counted(incident, reach.apis),
        _affected(incident, reach, names),
        reach.calls_a_minute,
        incident.began,
        stored.owner,
        state,
        ambiguity(incident, names),
        stored.incident_id,
        called.get(stored.incident_id),
    )


def apis_text(incident: Incident, affected: Sequence[str]) -> str:
    """Returns the names of the APIs; empty of a silent agent, of which no call is known to fail."""
    if isinstance(incident.subject, AaReporting):
        return ""
    codes = sorted(codes_of(incident.subject)) or affected
    if set(codes) >= _ALL or not codes:
        return gettext("all")
    if set(codes) == _FOR_CUSTOMERS:
        return gettext("all but heartbeats")
    if len(others := _ALL.difference(codes)) < len(codes) // 2:
        return gettext("all but %(apis)s", apis=", ".join(map(api_names, sorted(others))))
    return ", ".join(map(api_names, codes))


def apis_counted(incident: Incident, affected: Sequence[str]) -> str:
    """Returns the names of the APIs; of many how many they are: the incident's page names them."""
    codes = codes_of(incident.subject) or affected
    text = apis_text(incident, affected)
    is_listed = text.count(", ") + 1 == len(codes) > _NAMED
    return ngettext("%(num)s API", "%(num)s APIs", len(codes)) if is_listed else text


def _affected(incident: Incident, reach: Reach, names: Mapping[str, str]) -> str:
    """Returns the other side of the cause: of an AA the FIPs that its calls do not reach."""
    aas, fips = (tuple(names.get(one, one) for one in ids) for ids in (reach.aas, reach.fips))
    match incident.subject:
        case AaReporting():
            return ""
        case AaCalls() | AaApi():
            return _listed(fips, "FIP") or _listed(aas, "AA")
        case Path():
            return ""  # the headline names both
        case _:
            return _listed(aas, "AA") or _listed(fips, "FIP")


def _listed(members: tuple[str, ...], kind: str) -> str:
    if not members:
        return ""
    if len(members) <= _NAMED:
        return ", ".join(members)
    if kind == "FIP":
        return ngettext("%(num)s FIP", "%(num)s FIPs", len(members))
    return ngettext("at least %(num)s AA", "at least %(num)s AAs", len(members))
