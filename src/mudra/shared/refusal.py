"""The base of every refusal: what a use case returns when it does not do what was asked."""

import enum
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.finding import Finding

WAIT_TEXT: Final = "wait as Retry-After says"
"""The end of the text of a limit; pages write the time out."""


class RefusalKind(enum.Enum):
    """The kind of a refusal; `server_protocol/refusal_status.py` has the status of each."""

    INVALID = enum.auto()
    """The request itself is wrong."""
    TOO_LARGE = enum.auto()
    """The request holds more than is taken."""
    TOO_SLOW = enum.auto()
    """The request did not arrive in time."""
    UNSUPPORTED = enum.auto()
    """The request is in a form that is not read here."""
    NOT_ALLOWED = enum.auto()
    """The thing exists, and does not take this method."""
    UNAUTHORIZED = enum.auto()
    """Credentials, tokens or rights."""
    FORBIDDEN = enum.auto()
    """A form of a page that is not acted on."""
    NOT_FOUND = enum.auto()
    """There is nothing by this name."""
    CONFLICT = enum.auto()
    """The present state does not permit it."""
    LIMITED = enum.auto()
    """A limit is reached; `retry_after_s` says for how long."""
    BUSY = enum.auto()
    """The service cannot do it now; `retry_after_s` says when to try again."""
    FAILED = enum.auto()
    """A fault of ours."""


class ErrorCode(enum.StrEnum):
    """The stable words of `errorCode`."""

    INVALID_REQUEST = "InvalidRequest"
    UNAUTHORIZED = "Unauthorized"
    TOKEN_EXPIRED = "TokenExpired"  # noqa: S105  # a word of the interface
    TOKEN_REVOKED = "TokenRevoked"  # noqa: S105  # an error code
    SECRET_EXPIRED = "SecretExpired"  # noqa: S105  # an error code
    SECRET_GRACE_ENDED = "SecretGraceEnded"  # noqa: S105  # an error code
    ADDRESS_NOT_LISTED = "AddressNotListed"
    PROOF_INVALID = "ProofInvalid"
    RESET_TOO_SOON = "ResetTooSoon"
    RESET_LIMIT_REACHED = "ResetLimitReached"
    TOO_MANY_ATTEMPTS = "TooManyAttempts"
    NOT_FOUND = "NotFound"
    CONFLICT = "Conflict"
    PAYLOAD_TOO_LARGE = "PayloadTooLarge"
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType"
    IDEMPOTENCY_ERROR = "IdempotencyError"
    INTERNAL_ERROR = "InternalError"
    SERVICE_UNAVAILABLE = "ServiceUnavailable"


class Refusal(Struct, frozen=True):
    """Base class of all refusals, which carry data and never HTTP.

    A use case returns a union of its success and its refusals, so that the type
    checker proves that an edge handles each. A refusal states its kind and its
    sentence next to the rule that refuses; every edge shows it by these.
    """

    @property
    def kind(self) -> RefusalKind:
        """Return what it says of the request."""
        raise NotImplementedError

    @property
    def code(self) -> ErrorCode | None:
        """Return its own word on the wire; None for that of its kind."""
        return None

    @property
    def sentence(self) -> str:
        """Return the text for the caller: field, rule and way out, never anything secret."""
        raise NotImplementedError

    @property
    def retry_after_s(self) -> int:
        """Return after how many seconds it may succeed; 0 where waiting does not help."""
        return 0

    @property
    def findings(self) -> Sequence[Finding]:
        """Return everything wrong with a document; the sentence names the first."""
        return ()


class PlainRefusal(Refusal, frozen=True):
    """A refusal that no caller matches: a constant or a function next to the rule that refuses."""

    kind: RefusalKind
    sentence: str
    retry_after_s: int = 0


class ValueRefused(Refusal, frozen=True):
    """Refuses a value; `problem` says what is allowed."""

    kind = RefusalKind.INVALID
    field: str
    problem: str

    @property
    def sentence(self) -> str:
        """Names the field and what is allowed."""
        return f"{self.field} {self.problem}"


class LimitedUntil(Refusal, frozen=True):
    """A limit that is over at `retry_at`."""

    kind = RefusalKind.LIMITED
    retry_at: datetime
    now: datetime

    @property
    def retry_after_s(self) -> int:
        """Whole seconds, never fewer than there are until `retry_at` (RFC 9110 10.2.3)."""
        return max(1, math.ceil((self.retry_at - self.now).total_seconds()))
