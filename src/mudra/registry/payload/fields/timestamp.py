"""The `timestamp` of an entry: ISO 8601 in UTC, and the odd forms older entries hold."""

import datetime as dt
import re
from typing import Final

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.inspection import Inspection, TextRule, show
from mudra.shared.time_text import read_time

ALLOWED: Final = translatable("ISO 8601 in UTC, such as 2024-02-06T10:11:29.192Z")

UTC_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-]00:?00)"
)

_RULE = TextRule(ALLOWED, 120)


def read_timestamp(inspection: Inspection, path: str, value: object) -> str:
    """Return the time at `path` as it was sent; an odd one of an older entry, in the right form."""
    text = inspection.text(path, value, _RULE)
    if not text:
        return ""
    read = read_time(text)
    if UTC_TIME.fullmatch(text) and read is not None:
        return text
    nearest = "" if read is None else wire_time(read.at)
    # A time without a zone does not say which it is: of older entries it was UTC.
    if read is not None and (inspection.older or read.offset is not None):
        read_as = texts.READ_AS % {"value": show(text), "word": nearest}
        inspection.note(path, read_as, ALLOWED)
        return nearest
    inspection.error(path, texts.NOT_ALLOWED % {"value": show(text)}, ALLOWED, nearest)
    return ""


def wire_time(moment: dt.datetime) -> str:
    """Return a moment in the wire form: UTC, milliseconds, `Z`."""
    utc = moment.astimezone(dt.UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
