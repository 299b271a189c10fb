"""Finds every error of one block of counts, spec 2.5 and 2.6."""

import re
from typing import Final

from mudra.metrics.payload.catalogue import (
    COUNTS,
    NOTIFICATION_COUNT_NAMES,
    PERCENTILE_NAMES,
    REQUEST_COUNT_NAMES,
    STATUS_NAMES,
    TIMING_CODES,
    NotificationType,
    Position,
    RequestType,
    Tag,
)
from mudra.metrics.payload.plain_json import JsonObject, kind_of
from mudra.metrics.payload.report import SIZE
from mudra.metrics.payload.validation_errors import ABSENT, ValidationErrors

_SIZE: Final = re.compile(SIZE)
_SIZE_NAME: Final = "sumOfSizeOfDataPackets"
_SIZE_FORM: Final = "a whole number as a decimal string without leading zeros"
_TYPES: Final = {
    Tag.REQUESTS: tuple(str(code) for code in RequestType),
    Tag.NOTIFICATIONS: tuple(str(code) for code in NotificationType),
}


def explain_block(path: str, value: object, tag: Tag, errors: ValidationErrors) -> None:
    """Adds every error of one block, in the order of the specification's table."""
    if tag is Tag.REQUESTS:
        block = errors.object_at(path, value, ("type", "pxx", "counts"), (_SIZE_NAME,))
    else:
        block = errors.object_at(path, value, ("type", "counts"), ("status",))
    if block is None:
        return
    code = _code(path, block, tag, errors)
    if tag is Tag.REQUESTS:
        _percentiles(f"{path}.pxx", block, errors)
        counts = _counts(f"{path}.counts", block, REQUEST_COUNT_NAMES, errors)
        if counts is not None and code in TIMING_CODES:
            _timing(f"{path}.counts", counts, errors)
        _size(f"{path}.{_SIZE_NAME}", block, code, errors)
    else:
        _counts(f"{path}.counts", block, NOTIFICATION_COUNT_NAMES, errors)
        _status(f"{path}.status", block, code, errors)


def _code(path: str, block: JsonObject, tag: Tag, errors: ValidationErrors) -> str | None:
    sent = block.get("type", ABSENT)
    if sent is ABSENT:
        return None
    if sent in _TYPES[tag]:
        return str(sent)
    allowed = ", ".join(_TYPES[tag])
    if not isinstance(sent, str):
        errors.add(f"{path}.type", f"must be a string, not {kind_of(sent)}", allowed)
        return None
    other = Tag.NOTIFICATIONS if tag is Tag.REQUESTS else Tag.REQUESTS
    if sent in _TYPES[other]:
        errors.add(f"{path}.type", f"belongs to payloads with the tag {other}", allowed)
    else:
        errors.add(
            f"{path}.type", "is not a known type", allowed, errors.nearest(sent, _TYPES[tag])
        )
    return None


def _percentiles(path: str, block: JsonObject, errors: ValidationErrors) -> None:
    times = errors.numbers_at(path, block.get("pxx", ABSENT), PERCENTILE_NAMES)
    for place in range(1, len(times or ())):
        before, here = (times or [])[place - 1 : place + 1]
        if here < before:
            names = PERCENTILE_NAMES
            errors.add(
                f"{path}[{place}]",
                f"({names[place]}) is {here}, less than {names[place - 1]}, which is {before}",
                "response times that do not fall from p50 to p100",
            )


def _counts(
    path: str, block: JsonObject, names: tuple[str, ...], errors: ValidationErrors
) -> list[int] | None:
    counts = errors.numbers_at(path, block.get("counts", ABSENT), names)
    if counts is None:
        return None
    total, answered = counts[Position.TOTAL], sum(counts[1:])
    if total < answered:
        errors.add(
            f"{path}[0]",
            f"({names[0]}) is {total}, less than the sum of positions 2 to {COUNTS}, {answered}",
            "at least that sum; more where no answer came",
        )
    return counts


def _timing(path: str, counts: list[int], errors: ValidationErrors) -> None:
    """Checks the FI requests that ended so: the first two positions are equal, the rest is 0."""
    names = REQUEST_COUNT_NAMES
    if counts[Position.OK_200] != counts[Position.TOTAL]:
        errors.add(
            f"{path}[1]",
            f"({names[1]}) is {counts[1]}, not {counts[0]} as {names[0]}",
            "for sfireqnot and ffireqnot both hold the number of FI requests that ended so",
        )
    for place in range(2, COUNTS):
        if counts[place]:
            errors.add(
                f"{path}[{place}]",
                f"({names[place]}) is {counts[place]}",
                "0: sfireqnot and ffireqnot measure a time and count no answers",
            )


def _size(path: str, block: JsonObject, code: str | None, errors: ValidationErrors) -> None:
    sent = block.get(_SIZE_NAME, ABSENT)
    if code == RequestType.FI_FETCH:
        if sent is ABSENT:
            errors.add(path, "is missing", f"for the type fif {_SIZE_FORM}")
        else:
            errors.text_at(path, sent, _SIZE, _SIZE_FORM)
    elif sent is not ABSENT:
        if code is not None:
            errors.add(path, f"is in a block of the type {code}", "the type fif only")
        else:
            errors.text_at(path, sent, _SIZE, _SIZE_FORM)


def _status(path: str, block: JsonObject, code: str | None, errors: ValidationErrors) -> None:
    sent = block.get("status", ABSENT)
    if code == NotificationType.FI and sent is ABSENT:
        errors.add(path, "is missing", f"for the type finot 7 values: {', '.join(STATUS_NAMES)}")
    elif code not in {None, NotificationType.FI} and sent is not ABSENT:
        errors.add(path, f"is in a block of the type {code}", "the type finot only")
    else:
        errors.numbers_at(path, sent, STATUS_NAMES)
