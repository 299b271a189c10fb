"""A subject of incidents as rows, addresses and messages name it."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import (
    API_SEPARATOR,
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    Subject,
)

Names = Mapping[str, str]
"""The names of members, by ID."""
NO_NAMES: Final[Names] = MappingProxyType({})


class SubjectKind(enum.StrEnum):
    """The kinds of subjects of an incident."""

    FIP = "fip"
    FIP_API = "fip-api"
    AA_CALLS = "aa-calls"
    AA_API = "aa-api"
    AA_REPORTING = "aa-reporting"
    PATH = "path"
    NETWORK = "network"


class SubjectName(Struct, frozen=True):
    """The name of a subject; `peer_id` is the FIP of a path, `type` the API of a FIP or an AA."""

    kind: SubjectKind
    entity_id: str
    type: str = ""
    peer_id: str = ""


def name_of(subject: Subject) -> SubjectName:
    """Returns the name of a subject."""
    match subject:
        case Fip(fip_id):
            return SubjectName(SubjectKind.FIP, fip_id)
        case FipApi(fip_id, code):
            return SubjectName(SubjectKind.FIP_API, fip_id, code)
        case AaCalls(aa_id):
            return SubjectName(SubjectKind.AA_CALLS, aa_id)
        case AaApi(aa_id, code):
            return SubjectName(SubjectKind.AA_API, aa_id, code)
        case AaReporting(aa_id):
            return SubjectName(SubjectKind.AA_REPORTING, aa_id)
        case Path(aa_id, fip_id):
            return SubjectName(SubjectKind.PATH, aa_id, peer_id=fip_id)
        case Network():
            return SubjectName(SubjectKind.NETWORK, "")


def subject_of(name: SubjectName) -> Subject:
    """Returns the subject of a name."""
    match name.kind:
        case SubjectKind.FIP:
            return Fip(name.entity_id)
        case SubjectKind.FIP_API:
            return FipApi(name.entity_id, name.type)
        case SubjectKind.AA_CALLS:
            return AaCalls(name.entity_id)
        case SubjectKind.AA_API:
            return AaApi(name.entity_id, name.type)
        case SubjectKind.AA_REPORTING:
            return AaReporting(name.entity_id)
        case SubjectKind.PATH:
            return Path(name.entity_id, name.peer_id)
        case SubjectKind.NETWORK:
            return Network()


def text_of(subject: Subject, names: Names = NO_NAMES) -> str:
    """Returns the text that names a subject in sentences and titles.

    Members appear by their name where `names` has it, else by kind and ID.
    """
    match subject:
        case Fip(fip_id):
            return _member("FIP", fip_id, names)
        case FipApi(fip_id, code):
            return f"{_member('FIP', fip_id, names)}, {api_names(code)}"
        case AaCalls(aa_id):
            return gettext("%(aa)s, calls to FIPs", aa=_member("AA", aa_id, names))
        case AaApi(aa_id, code):
            return f"{_member('AA', aa_id, names)}, {api_names(code)}"
        case AaReporting(aa_id):
            return gettext("%(aa)s, missing reports", aa=_member("AA", aa_id, names))
        case Path(aa_id, fip_id):
            aa, fip = names.get(aa_id, aa_id), names.get(fip_id, fip_id)
            return gettext("Path between %(aa)s and %(fip)s", aa=aa, fip=fip)
        case Network():
            return gettext("The whole network")


def in_title(subject: Subject, names: Names = NO_NAMES) -> str:
    """Returns the text that names a subject before what is wrong with it.

    Of an AA that does not report this is the AA: what is wrong says the rest.
    """
    if isinstance(subject, AaReporting):
        return _member("AA", subject.aa_id, names)
    return text_of(subject, names)


def in_sentence(subject: Subject, names: Names = NO_NAMES) -> str:
    """Returns the text that names a subject within a sentence."""
    match subject:
        case Path(aa_id, fip_id):
            aa, fip = names.get(aa_id, aa_id), names.get(fip_id, fip_id)
            return gettext("the path between %(aa)s and %(fip)s", aa=aa, fip=fip)
        case Network():
            return gettext("the whole network")
        case _:
            return text_of(subject, names)


def _member(kind: str, entity_id: str, names: Names) -> str:
    return names.get(entity_id) or f"{kind} {entity_id}"


def fip_of(subject: Subject) -> str | None:
    """Returns the FIP that the subject is, or is a part of; None for any other subject."""
    match subject:
        case Fip(fip_id) | FipApi(fip_id, _):
            return fip_id
        case _:
            return None


def fip_concerned(subject: Subject) -> str | None:
    """Returns the FIP that the subject names, also as the end of a path."""
    return subject.fip_id if isinstance(subject, Path) else fip_of(subject)


def aa_concerned(subject: Subject) -> str | None:
    """Returns the AA that the subject names, also as the end of a path."""
    match subject:
        case AaCalls(aa_id) | AaApi(aa_id, _) | AaReporting(aa_id) | Path(aa_id, _):
            return aa_id
        case _:
            return None


def members_of(incident: Incident) -> frozenset[str]:
    """Returns the members that an incident names: its subject's, its rivals', and the affected."""
    cause = incident.cause
    named = {
        one
        for subject in (incident.subject, *cause.ambiguous_with)
        for one in (fip_concerned(subject), aa_concerned(subject))
        if one
    }
    return frozenset(named | {*cause.affected_aas} | {*cause.affected_fips})


def apis_of(incident: Incident) -> frozenset[str]:
    """Returns the APIs that an incident is about or affects; empty where none is known."""
    return codes_of(incident.subject) or frozenset(incident.cause.affected_apis)


def codes_of(subject: Subject) -> frozenset[str]:
    """Returns the APIs of a subject; empty for all of them."""
    if isinstance(subject, FipApi | AaApi):
        return frozenset(subject.type.split(API_SEPARATOR))
    return frozenset()


def readers_of(subject: Subject, affected_aas: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the members to notify: those at fault first, then AAs that it affects.

    No notification says that an AA is at fault when its FIP is.
    """
    match subject:
        case Fip(fip_id) | FipApi(fip_id, _):
            return (fip_id, *affected_aas)
        case AaCalls(aa_id) | AaApi(aa_id, _) | AaReporting(aa_id):
            return (aa_id,)
        case Path(aa_id, fip_id):
            return (aa_id, fip_id)
        case Network():
            return ()
