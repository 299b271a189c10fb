"""Rows of errors.py for the faults of a sandbox."""

from collections.abc import Callable, Sequence
from typing import Final

from mudra.demo.faults.fault import (
    KEYS_A_DAY,
    FaultConflict,
    FaultRefused,
    OperatorsFault,
    TooManyFaultKeys,
)
from mudra.http.response.problem import Problem, conflict, error_row
from mudra.shared.refusal import Refusal

FAULT_ROWS: Final[Sequence[tuple[type[Refusal], Callable[[Refusal], Problem]]]] = (
    error_row(FaultRefused, lambda r: conflict(r.sentence)),
    error_row(
        FaultConflict,
        lambda r: conflict(f"{r.wanted} does not combine with {r.active}: end that first"),
    ),
    error_row(
        OperatorsFault,
        lambda r: conflict(
            f"an operator switched {r.kind} on: only an operator changes or ends it"
        ),
    ),
    error_row(
        TooManyFaultKeys,
        lambda _: conflict(f"an entity gets {KEYS_A_DAY} keys of faults in 24 hours at most"),
    ),
)
