"""One search over all areas for operators: members, people, incidents, keys, reports, audit.

Words are matched in any order; an ID is found as a whole. What an operator's scopes do not show
is not searched, and named in `hidden`.
"""

import enum
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.people_store import People
from mudra.identity.memberships.member_search import MemberFilter, UserFilter
from mudra.identity.memberships.member_search_store import MemberSearch
from mudra.identity.operators.operator import Scope
from mudra.localization.language import gettext
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident import StoredIncident, Subject
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.incidents.subject import Names, text_of
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.receipt_service import ReceiptService
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService

MAX_OF_KIND: Final = 10
MAX_TEXT: Final = 200
_MAX_INCIDENTS: Final = 500
"""The latest incidents by name; one older is found by its ID."""


class FoundKind(enum.StrEnum):
    """The results of a search."""

    MEMBER = "member"
    HEALTH = "health"
    PERSON = "person"
    INCIDENT = "incident"
    KEY = "key"
    REPORT = "report"
    EVENT = "event"


SCOPE_OF: Final[Mapping[FoundKind, Scope]] = {
    FoundKind.MEMBER: Scope.MEMBERS,
    FoundKind.HEALTH: Scope.HEALTH,
    FoundKind.PERSON: Scope.MEMBERS,
    FoundKind.INCIDENT: Scope.HEALTH,
    FoundKind.KEY: Scope.KEYS,
    FoundKind.REPORT: Scope.HEALTH,
    FoundKind.EVENT: Scope.AUDIT,
}


class Found(Struct, frozen=True):
    """One hit. `subject` is its ID, of a report and of health the entity's.

    `at` is the time that the detail ends with: since when, until when if it is over, or of which
    window. `exact` is whether the whole text is that ID or address, in any case.
    """

    kind: FoundKind
    subject: str
    title: str
    detail: str
    exact: bool = False
    at: datetime | None = None
    until: datetime | None = None


class SearchResult(Struct, frozen=True):
    """Hits in the order of `FoundKind`; of kinds in `cut` there are more than shown."""

    found: tuple[Found, ...]
    cut: frozenset[FoundKind]
    hidden: tuple[FoundKind, ...]

    @property
    def only(self) -> Found | None:
        """Returns the hit that the whole text names, when it names one thing only."""
        exact = [one for one in self.found if one.exact]
        return exact[0] if len(exact) == 1 else None


async def search_everything(tx: Transaction, text: str, scopes: frozenset[Scope]) -> SearchResult:
    """Searches what these scopes show; an empty text finds nothing."""
    text = " ".join(text[:MAX_TEXT].split())
    hidden = tuple(kind for kind in FoundKind if SCOPE_OF[kind] not in scopes)
    found = await _entities(tx, text, scopes) if text else []
    if text and Scope.MEMBERS in scopes:
        found += await _people(tx, text)
    if text and Scope.HEALTH in scopes:
        found += await _incidents(tx, text)
        found += await _reports(tx, text)
    if text and Scope.KEYS in scopes:
        found += await _keys(tx, text)
    if text and Scope.AUDIT in scopes:
        found += _events(text)
    return _bounded(found, hidden)


def _bounded(found: Iterable[Found], hidden: tuple[FoundKind, ...]) -> SearchResult:
    by_kind: dict[FoundKind, list[Found]] = {kind: [] for kind in FoundKind}
    for one in found:
        by_kind[one.kind].append(one)
    shown = [
        one
        for rows in by_kind.values()
        for one in sorted(rows, key=lambda row: not row.exact)[:MAX_OF_KIND]
    ]
    cut = frozenset(kind for kind, rows in by_kind.items() if len(rows) > MAX_OF_KIND)
    return SearchResult(tuple(shown), cut, hidden)


async def _entities(tx: Transaction, text: str, scopes: frozenset[Scope]) -> list[Found]:
    if not scopes & {Scope.MEMBERS, Scope.HEALTH}:
        return []
    members = MemberSearch(tx)
    named = await members.members(MemberFilter(named=text), "", MAX_OF_KIND + 1)
    rows = await members.members(MemberFilter(text=text), "", MAX_OF_KIND + 1)
    found = []
    for row in dict.fromkeys((*named, *rows)):
        name, exact = f"{row.entity_type} {row.entity_id}", _is(text, row.entity_id)
        if Scope.MEMBERS in scopes:
            state = f"{name}, {gettext(row.state)}"
            found.append(Found(FoundKind.MEMBER, row.entity_id, row.name, state, exact))
        if Scope.HEALTH in scopes and row.entity_type != EntityType.FIU:
            # The member's page is the one to jump to, for those who may see it.
            alone = exact and Scope.MEMBERS not in scopes
            found.append(_health(row.entity_id, row.entity_type, row.name, exact=alone))
    return found


def _health(entity_id: str, entity_type: str, name: str, *, exact: bool) -> Found:
    title = gettext("Health of %(name)s", name=name)
    return Found(FoundKind.HEALTH, entity_id, title, f"{entity_type} {entity_id}", exact)


async def _people(tx: Transaction, text: str) -> list[Found]:
    rows = await MemberSearch(tx).users(UserFilter(text=text), "", MAX_OF_KIND + 1)
    return [
        Found(
            FoundKind.PERSON,
            row.administers[0] if row.administers else "",
            row.name or row.email,
            f"{row.email}, {_place(row.administers, row.scopes)}, {gettext(row.state)}",
            _is(text, row.email),
        )
        for row in rows
    ]


def _place(administers: tuple[str, ...], scopes: tuple[str, ...]) -> str:
    if not administers:
        return gettext("operator") if scopes else gettext("without an entity")
    of = ", ".join(administers[:3])
    if scopes:
        return gettext("operator and admin of %(entities)s", entities=of)
    return gettext("admin of %(entities)s", entities=of)


async def _incidents(tx: Transaction, text: str) -> list[Found]:
    names = await tx.service(HealthService).names()
    if _is_uuid(text):
        named = await tx.service(IncidentService).find(text.lower())
        return [_incident(named, names, exact=True)] if isinstance(named, StoredIncident) else []
    latest = await tx.service(IncidentService).latest(limit=_MAX_INCIDENTS)
    words = text.casefold().split()
    return [
        _incident(one, names, exact=False)
        for one in latest
        if all(word in _words_of(one.incident.subject, names) for word in words)
    ][: MAX_OF_KIND + 1]


def _words_of(subject: Subject, names: Names) -> str:
    """Returns what an incident is found by: the IDs of its members, and their names."""
    return f"{text_of(subject)} {text_of(subject, names)}".casefold()


def _incident(one: StoredIncident, names: Names, *, exact: bool) -> Found:
    began, ended = one.incident.began, one.incident.ended
    return Found(
        FoundKind.INCIDENT,
        one.incident_id,
        text_of(one.incident.subject, names),
        gettext("open, since") if one.is_open else gettext("over,"),
        exact,
        began,
        None if one.is_open else ended,
    )


async def _keys(tx: Transaction, text: str) -> list[Found]:
    now = await People(tx).now()
    return [
        Found(
            FoundKind.KEY,
            one.key.kid,
            one.key.kid,
            gettext("%(kind)s tokens", kind=one.key.kind.value) + f", {gettext(one.state.value)}",
            _is(text, one.key.kid),
        )
        for one in await tx.service(SigningKeyService).list(now)
        if text.casefold() in one.key.kid.casefold()
    ]


async def _reports(tx: Transaction, text: str) -> list[Found]:
    receipt = await tx.service(ReceiptService).find(text.lower()) if _is_uuid(text) else None
    if receipt is None:
        return []
    key = receipt.key
    title = (
        gettext("Report of %(aa)s, request metrics", aa=key.aa_id)
        if key.tag is Tag.REQUESTS
        else gettext("Report of %(aa)s, notification metrics", aa=key.aa_id)
    )
    detail = gettext(
        "version %(version)s, receipt %(receipt)s, window of",
        version=receipt.version,
        receipt=receipt.receipt_id,
    )
    return [Found(FoundKind.REPORT, key.aa_id, title, detail, exact=True, at=key.window)]


def _events(text: str) -> list[Found]:
    if not _is_uuid(text):
        return []
    # Not looked up: that may take seconds, and the audit page shows what there is.
    title = f"Events of transaction {text}"
    return [Found(FoundKind.EVENT, text, title, "searches the audit")]


def _is(text: str, name: str) -> bool:
    return text.casefold() == name.casefold()


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
