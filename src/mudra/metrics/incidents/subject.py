"""A subject of incidents as rows, addresses and messages name it."""

import enum

from msgspec import Struct

from mudra.metrics.incidents.incident import AaCalls, AaReporting, FipApi, Subject


class SubjectKind(enum.StrEnum):
    """What an incident may be about."""

    FIP_API = "fip-api"
    AA_CALLS = "aa-calls"
    AA_REPORTING = "aa-reporting"


class SubjectName(Struct, frozen=True):
    """The name of a subject; `type` is empty except for one API of a FIP."""

    kind: SubjectKind
    entity_id: str
    type: str


def name_of(subject: Subject) -> SubjectName:
    """Returns the name of a subject."""
    match subject:
        case FipApi(fip_id, code):
            return SubjectName(SubjectKind.FIP_API, fip_id, code)
        case AaCalls(aa_id):
            return SubjectName(SubjectKind.AA_CALLS, aa_id, "")
        case AaReporting(aa_id):
            return SubjectName(SubjectKind.AA_REPORTING, aa_id, "")


def subject_of(name: SubjectName) -> Subject:
    """Returns the subject of a name."""
    match name.kind:
        case SubjectKind.FIP_API:
            return FipApi(name.entity_id, name.type)
        case SubjectKind.AA_CALLS:
            return AaCalls(name.entity_id)
        case SubjectKind.AA_REPORTING:
            return AaReporting(name.entity_id)
