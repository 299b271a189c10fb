"""A version of an entry as a row, and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import RowMapping

from mudra.registry.lifecycle.record import Version, VersionStatus
from mudra.registry.payload.entry import canonical, read_canonical
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.registry.payload.fields.likeness import likeness


def version_row(entity_id: str, version: Version) -> dict[str, object]:
    """Write a version as a row."""
    return {
        "entity_id": entity_id,
        "number": version.number,
        "body": canonical(version.entry),
        "entityhandle": version.entry.entityinfo.entityhandle,
        "kid": version.key.kid,
        "thumbprint": version.key.thumbprint,
        "modulus_hash": version.key.modulus_hash,
        "bits": version.key.bits,
        "status": version.status.value,
        "submitted_by": version.submitted_by,
        "submitted_at": version.submitted_at,
        "submitted_person": version.submitted_person,
        "decided_by": version.decided_by,
        "decided_at": version.decided_at,
        "reason": version.reason,
        "goes_live_at": version.goes_live_at,
        "live_from": version.live_from,
        "live_until": version.live_until,
        "equal_to": version.equal_to,
        "name_likeness": likeness(version.entry.entityinfo.name),
        "code_likeness": likeness(version.entry.entityinfo.code),
    }


def read_version(row: RowMapping) -> Version:
    """Read what `version_row` wrote."""
    text = cast("Mapping[str, str]", row)
    at = cast("Mapping[str, datetime]", row)
    number = cast("Mapping[str, int]", row)
    return Version(
        number=number["number"],
        entry=read_canonical(cast("bytes", row["body"])),
        key=KeyFacts(text["kid"], text["thumbprint"], text["modulus_hash"], number["bits"]),
        status=VersionStatus(text["status"]),
        submitted_by=text["submitted_by"],
        submitted_at=at["submitted_at"],
        submitted_person=text["submitted_person"],
        decided_by=text["decided_by"],
        decided_at=at["decided_at"],
        reason=text["reason"],
        goes_live_at=at["goes_live_at"],
        live_from=at["live_from"],
        live_until=at["live_until"],
        equal_to=number["equal_to"],
    )
