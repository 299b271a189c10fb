"""A check: what it proves, what it needs, and the steps that prove it.

A check counts as specification only where its expectation follows from the text alone: a field and
its type, a lifetime, a limit, a state that must or must not work. Where the text gives no status,
each that it lists for the operation is right: an old secret must fail with 400 or 401, a reset in
the waiting period with any 4xx; a required field that is missing is 400. Everything else is a
decision of the network: units, addresses, values of `errorCode`, 429, OAuth, keys, receipts. A
check of the specification may use a decided address: a payload is sent somewhere.

Each check looks at one thing, so that one wrong field does not fail a whole part. One that a limit
or a missing precondition ends is skipped, and never counts as passed. It uses no code of the
service, whose mistakes it would share.
"""

import enum
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct


class Basis(enum.StrEnum):
    """The reason for which an implementation must do this."""

    SPECIFICATION = "specification"
    NETWORK = "network decision"
    """The specification is silent, and the network decided."""


class Need(enum.StrEnum):
    """A prerequisite of a check."""

    ENTITY = "--entity-id and --secret-file"
    USER = "--username and --password-file"
    AA = "--aa-id and --aa-secret-file"
    RESETS = "--resets"
    ALL_RESETS = "--all-resets"
    REGISTER = "--register"
    PUSH = "--push"
    CLOCK = "--sandbox-url"
    """The implementation's clock can be moved by days."""
    EXPIRED_TOKEN = "--expired-token-file"  # noqa: S105  # the name of an option
    OTHER_AUDIENCE = "--other-audience-token-file"


class Expectation(Struct, frozen=True):
    """One thing that must hold; `came` describes what came instead, without any secret."""

    holds: bool
    expected: str
    came: str
    request: str = ""
    """Method and address of the request that it is about."""


class Skip(Struct, frozen=True):
    """The rest of the check says nothing here, for a reason."""

    reason: str


class NoToken(Exception):
    """The implementation gave no token that a check needs for its request."""

    def __init__(self, what: str, came: str, request: str, *, limited: bool) -> None:
        super().__init__(f"no {what}: {came}")
        self.what, self.came, self.request = what, came, request
        self.limited = limited
        """A limit was reached, which is no fault."""


Step: TypeAlias = Expectation | Skip
Steps: TypeAlias = Iterator[Step]
"""The steps of a check, which ends at the first one that does not hold or is skipped."""


class Asked(Protocol):
    """The implementation that is checked: it knows what it was asked last."""

    @property
    def asked(self) -> str:
        """Method and address of the last request; empty before the first."""


Subject = TypeVar("Subject", bound=Asked)


class Check(Struct, Generic[Subject], frozen=True):
    """One check; `line` quotes the specification, or the decision where it is silent."""

    check_id: str
    part: str
    """Part of the specification such as `4.4`; `D3` is part 3 of the network's decisions."""
    title: str
    line: str
    basis: Basis
    needs: tuple[Need, ...]
    steps: Callable[[Subject], Steps]


def specified(
    check_id: str, title: str, line: str, *needs: Need
) -> Callable[[Callable[[Subject], Steps]], Check[Subject]]:
    """Make a check of the function below, which proves a line of the specification."""
    return _made(check_id, title, line, Basis.SPECIFICATION, needs)


def decided(
    check_id: str, title: str, line: str, *needs: Need
) -> Callable[[Callable[[Subject], Steps]], Check[Subject]]:
    """Make a check of the function below, which proves a decision of the network."""
    return _made(check_id, title, line, Basis.NETWORK, needs)


def _made(
    check_id: str, title: str, line: str, basis: Basis, needs: tuple[Need, ...]
) -> Callable[[Callable[[Subject], Steps]], Check[Subject]]:
    part = check_id.split("-")[1]

    def make(steps: Callable[[Subject], Steps]) -> Check[Subject]:
        return Check(check_id, part, title, line, basis, needs, steps)

    return make
