"""Checks a registration payload as a whole, with every finding at once (spec 2.7)."""

import re
import uuid
from collections.abc import Mapping

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.entry import EntityInfo, Entry, Requester
from mudra.registry.payload.fields.certificate import KeyFacts, key_facts
from mudra.registry.payload.fields.entity_info import read_entity_info
from mudra.registry.payload.fields.field_rules import ENTITY_ID, NAME, TXNID, VERSION
from mudra.registry.payload.fields.timestamp import read_timestamp
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.inspection import Inspection, is_empty, nearest_of, show
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding

_TYPES = {kind.value for kind in EntityType}
_ID_PARTS = re.compile(r"[^A-Z0-9]+")
_SAME = translatable("the same in both")
_UUID_FORM = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class CheckedPayload(Struct, frozen=True):
    """A payload that may be stored, the facts of its key, and the notes for its sender."""

    entry: Entry
    key: KeyFacts
    notes: tuple[Finding, ...] = ()


def check_payload(
    raw: object,
    policy: AddressPolicy,
    vocabulary: Vocabulary,
    *,
    older: bool = False,
    root: str = "$",
) -> CheckedPayload | list[Finding]:
    """Return the checked payload, or all findings when any of them refuses it.

    `raw` is any JSON value. `older` reads what entries of today's directories
    hold (no root `type`, odd timestamps, further members, empty ports) and notes it
    instead of refusing it. `root` is the path of the payload within its document.
    """
    inspection = Inspection(older=older)
    elsewhere = {name: f"entityinfo.{name}" for name in EntityInfo.__struct_encode_fields__}
    given = inspection.members(root, raw, Entry.__struct_fields__, elsewhere)
    if not given and not isinstance(raw, dict):
        return inspection.findings
    entity_type = _entity_type(inspection, f"{root}.type", given)
    ver = inspection.text(f"{root}.ver", given.get("ver"), VERSION)
    timestamp = read_timestamp(inspection, f"{root}.timestamp", given.get("timestamp"))
    txnid = _txnid(inspection, f"{root}.txnid", given.get("txnid"))
    requester = _requester(inspection, f"{root}.requester", given.get("requester"))
    path = f"{root}.entityinfo"
    info = read_entity_info(
        inspection, path, given.get("entityinfo"), entity_type, policy, vocabulary
    )
    if inspection.failed or entity_type is None:
        return inspection.findings
    entry = Entry(ver, timestamp, txnid, entity_type, requester, info)
    return CheckedPayload(entry, key_facts(info.certificate), tuple(inspection.findings))


def check_submission(
    raw: object,
    policy: AddressPolicy,
    vocabulary: Vocabulary,
    entity_type: str,
    entity_id: str | None,
) -> CheckedPayload | list[Finding]:
    """Check a payload by itself and against the address it was sent to.

    Submissions and checks without one share it. Conflicts with other members' entries
    (a key that another one holds) show only at the submission.
    """
    checked = check_payload(raw, policy, vocabulary)
    if not isinstance(checked, CheckedPayload):
        return checked
    return address_findings(checked.entry, entity_type, entity_id) or checked


def address_findings(entry: Entry, entity_type: str, entity_id: str | None) -> list[Finding]:
    """Return where a payload differs from the address it was sent to.

    `entity_id` is None where the address names none (a first submission).
    """
    findings = []
    if entry.type != entity_type:
        nearest = nearest_of(entity_type, tuple(EntityType))
        problem = texts.OTHER_ADDRESS % {"value": entry.type, "address": show(entity_type)}
        findings.append(Finding("$.type", problem, _SAME, nearest))
    if entity_id is not None and entry.entityinfo.id != entity_id:
        values = {"value": show(entry.entityinfo.id), "address": show(entity_id)}
        problem = texts.OTHER_ADDRESS % values
        findings.append(Finding("$.entityinfo.id", problem, _SAME))
    return findings


def _entity_type(
    inspection: Inspection, path: str, given: Mapping[str, object]
) -> EntityType | None:
    value = given.get("type")
    if inspection.older and is_empty(value):
        info = given.get("entityinfo")
        # The fields of a FIU are those of a FIP or an AA whose own were left out.
        filled, named = _type_by_fields(info), _type_by_id(info)
        by_id = named is not None and filled in {None, EntityType.FIU}
        likely, by = (named, "its ID") if by_id else (filled, "the fields that it fills")
        if likely is not None:
            inspection.note(path, f"is missing and was read as {likely}, by {by}")
            return likely
    kind = inspection.word(path, value, tuple(EntityType))
    return EntityType(kind) if kind else None


def _type_by_fields(info: object) -> EntityType | None:
    """Return the type that alone fills the fields which this entry fills (spec 2.7)."""
    if not isinstance(info, dict):
        return None
    if not is_empty(info.get("entityhandle")) or not is_empty(info.get("webviewurl")):
        return EntityType.AA
    if not is_empty(info.get("fitypes")):
        return EntityType.FIP
    # Some FIUs list identifiers: with them alone an entry may be either.
    return EntityType.FIU if is_empty(info.get("Identifiers")) else None


def _type_by_id(info: object) -> EntityType | None:
    """Return the one type that an ID such as `fiu@bank` or `KAVERI-FIP` names."""
    entity_id = info.get("id") if isinstance(info, dict) else None
    if not isinstance(entity_id, str):
        return None
    named = _TYPES & set(_ID_PARTS.split(entity_id.upper()[:64]))
    return EntityType(named.pop()) if len(named) == 1 else None


def _txnid(inspection: Inspection, path: str, value: object) -> str:
    text = inspection.text(path, value, TXNID)
    if text and not _UUID_FORM.fullmatch(text):
        inspection.odd(
            path, texts.NOT_ALLOWED % {"value": show(text)}, TXNID.allowed, _nearest_uuid(text)
        )
    return text


def _nearest_uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return ""


def _requester(inspection: Inspection, path: str, value: object) -> Requester:
    given = inspection.members(path, value, Requester.__struct_fields__)
    if not given and not isinstance(value, dict):
        return Requester("", "")
    return Requester(
        name=inspection.text(f"{path}.name", given.get("name"), NAME),
        id=inspection.text(f"{path}.id", given.get("id"), ENTITY_ID),
    )
