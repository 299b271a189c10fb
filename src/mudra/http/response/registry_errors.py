"""Rows of errors.py for the registry."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from mudra.http.response.problem import (
    Problem,
    busy,
    conflict,
    error_row,
    invalid,
    not_found,
    rate_limited,
    unauthorized,
)
from mudra.registry.lifecycle.refusal import (
    AlreadyHeld,
    DuplicateEntity,
    GoLiveTooFar,
    NeedsOperator,
    NotYourEntry,
    ReasonMissing,
    SecondOperatorNeeded,
    SecondOperatorTied,
    UnknownEntity,
    UnknownVersion,
    VersionMoved,
    WrongState,
    WrongType,
)
from mudra.registry.payload.refusals import PayloadNotChecked, PayloadRefused, TooManyWrites
from mudra.registry.probe.probe import NothingToProbe, NotProbed
from mudra.shared.refusal import WAIT_TEXT, Refusal

REGISTRY_ROWS: Final[Sequence[tuple[type[Refusal], Callable[[Refusal], Problem]]]] = (
    error_row(
        PayloadNotChecked,
        lambda r: busy(r.retry_after_s, "too many payloads wait to be checked; try again"),
    ),
    error_row(PayloadRefused, lambda r: replace(invalid(r.sentence()), findings=r.findings)),
    error_row(
        TooManyWrites,
        lambda r: rate_limited(
            r.retry_after_s,
            f"the writes to the registry that one hour permits are used up; {WAIT_TEXT}",
        ),
    ),
    error_row(NotYourEntry, lambda r: unauthorized(r.sentence())),
    error_row(NeedsOperator, lambda r: unauthorized(r.sentence())),
    error_row(
        NothingToProbe,
        lambda r: conflict(f"{r.entity_id} has neither a pending version nor a live one"),
    ),
    error_row(NotProbed, lambda r: not_found(f"the base URL of {r.entity_id} has not been probed")),
    error_row(UnknownEntity, lambda r: not_found(r.sentence())),
    error_row(UnknownVersion, lambda r: not_found(r.sentence())),
    error_row(DuplicateEntity, lambda r: conflict(r.sentence())),
    error_row(AlreadyHeld, lambda r: conflict(r.sentence())),
    error_row(WrongState, lambda r: conflict(r.sentence())),
    error_row(SecondOperatorNeeded, lambda r: conflict(r.sentence())),
    error_row(SecondOperatorTied, lambda r: conflict(r.sentence())),
    error_row(VersionMoved, lambda r: conflict(r.sentence())),
    error_row(WrongType, lambda r: invalid(r.sentence())),
    error_row(ReasonMissing, lambda r: invalid(r.sentence())),
    error_row(GoLiveTooFar, lambda r: invalid(r.sentence())),
)
