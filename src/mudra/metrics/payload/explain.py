"""Finds every error of a payload, each with its path: the slow path of `validation.py`."""

import re
from datetime import datetime
from typing import Final

from mudra.metrics.payload.catalogue import WINDOW_SECONDS, Tag
from mudra.metrics.payload.explain_block import explain_block
from mudra.metrics.payload.plain_json import JsonObject, kind_of
from mudra.metrics.payload.report import ENTITY_ID, WORD
from mudra.metrics.payload.validation_errors import ABSENT, ValidationErrors
from mudra.metrics.payload.window_rule import FORM, window_findings

_ROOT: Final = (
    "agentVersion", "jsonVersion", "tag", "txnId", "fromDateTime",
    "toDateTime", "duration", "aaId", "fips",
)  # fmt: skip
_FIP: Final = ("fipId", "metrics")
_ENTITY_ID_FORM: Final = "1 to 64 of the characters A-Z a-z 0-9 @ . _ -"
_WORD_FORM: Final = "1 to 128 printable ASCII characters, no space at either end"
_ANY_TEXT: Final = re.compile(r"")
_ENTITY_ID: Final = re.compile(ENTITY_ID)
_WORD: Final = re.compile(WORD)


def explain(value: object, now: datetime) -> ValidationErrors:
    """Walks a payload as `plain_json` reads it; returns every error in document order."""
    errors = ValidationErrors()
    root = errors.object_at("$", value, _ROOT, optional=())
    if root is None:
        return errors
    tag = _tag(root, errors)
    for name in ("agentVersion", "jsonVersion", "txnId"):
        errors.text_at(f"$.{name}", root.get(name, ABSENT), _WORD, _WORD_FORM)
    _window(root, now, errors)
    errors.text_at("$.aaId", root.get("aaId", ABSENT), _ENTITY_ID, _ENTITY_ID_FORM)
    fips = errors.array_at("$.fips", root.get("fips", ABSENT), "objects, one for each FIP")
    first_place: dict[str, int] = {}
    for place, fip in enumerate(fips or ()):
        if errors.full:
            break
        _fip(f"$.fips[{place}]", fip, tag, first_place, errors)
    return errors


def _tag(root: JsonObject, errors: ValidationErrors) -> Tag:
    """Returns the tag, or the one probably meant, so that the blocks can be checked as well."""
    sent = root.get("tag", ABSENT)
    if sent in tuple(Tag):
        return Tag(str(sent))
    close = errors.nearest(sent, tuple(Tag)) if isinstance(sent, str) else ""
    if sent is not ABSENT:
        what = "another text" if isinstance(sent, str) else kind_of(sent)
        errors.add("$.tag", f"is {what}", " or ".join(Tag), close)
    return Tag(close) if close else _guess_tag(root)


def _guess_tag(root: JsonObject) -> Tag:
    """Guesses the tag from the blocks: only request metrics have response times."""
    fips = root.get("fips")
    for fip in fips if isinstance(fips, list) else ():
        blocks = fip.get("metrics") if isinstance(fip, dict) else None
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict) and "pxx" in block:
                return Tag.REQUESTS
    return Tag.NOTIFICATIONS


def _window(root: JsonObject, now: datetime, errors: ValidationErrors) -> None:
    start = errors.text_at("$.fromDateTime", root.get("fromDateTime", ABSENT), _ANY_TEXT, FORM)
    end = errors.text_at("$.toDateTime", root.get("toDateTime", ABSENT), _ANY_TEXT, FORM)
    for finding in window_findings(start, end, now):
        errors.add(finding.path, finding.problem, finding.allowed, finding.nearest)
    duration = root.get("duration", ABSENT)
    if duration is not ABSENT and (type(duration) is not int or duration != WINDOW_SECONDS):
        errors.add("$.duration", f"is {kind_of(duration)}", "the number 600, in seconds")


def _fip(
    path: str, value: object, tag: Tag, first_place: dict[str, int], errors: ValidationErrors
) -> None:
    fip = errors.object_at(path, value, _FIP, optional=())
    if fip is None:
        return
    fip_id = errors.text_at(f"{path}.fipId", fip.get("fipId", ABSENT), _ENTITY_ID, _ENTITY_ID_FORM)
    if fip_id is not None:
        place = int(path[len("$.fips[") : -1])
        first = first_place.setdefault(fip_id, place)
        if first != place:
            errors.add(f"{path}.fipId", f"is the FIP of $.fips[{first}] again", "each FIP once")
    blocks = errors.array_at(f"{path}.metrics", fip.get("metrics", ABSENT), "objects, one a type")
    first_block: dict[str, int] = {}
    for place, block in enumerate(blocks or ()):
        if errors.full:
            break
        explain_block(f"{path}.metrics[{place}]", block, tag, errors)
        code = block.get("type") if isinstance(block, dict) else None
        if isinstance(code, str):
            first = first_block.setdefault(code, place)
            if first != place:
                again = f"is the type of {path}.metrics[{first}] again"
                errors.add(f"{path}.metrics[{place}].type", again, "each type once in a FIP")
