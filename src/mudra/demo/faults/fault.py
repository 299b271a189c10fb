"""A fault of one entity: its kinds, which of them combine, and what each does. Pure."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.localization.language import translatable
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind
from mudra.tokens.claims import Claims
from mudra.tokens.ports import EntityCredentials, StoredSecret
from mudra.tokens.secrets.secret import SecretState

LONGEST: Final = timedelta(days=7)
KEYS_A_DAY: Final = 20
"""Each change of the key makes a pair of its own, which stays published for a day."""
_CLOCK_CLAIMS: Final = ("iat", "nbf", "exp")


class FaultKind(enum.StrEnum):
    """The faults that may be switched on."""

    EXPIRED_SECRET = "expired-secret"  # noqa: S105  # a kind of fault
    GRACE_WARNING = "grace-warning"
    KEY_CHANGE = "key-change"
    KEY_DROP = "key-drop"
    TOO_MANY_REQUESTS = "too-many-requests"
    UNAVAILABLE = "unavailable"
    SLOW = "slow"
    CLOCK_JUMP = "clock-jump"

    @property
    def has_key(self) -> bool:
        """Return whether the fault signs with a key of its own."""
        return self in {FaultKind.KEY_CHANGE, FaultKind.KEY_DROP}


DESCRIPTIONS: Final[Mapping[FaultKind, str]] = {
    FaultKind.EXPIRED_SECRET: translatable("every secret is refused as expired"),
    FaultKind.GRACE_WARNING: translatable(
        "tokens come with the warning of an old secret: a message and the header Sunset"
    ),
    FaultKind.KEY_CHANGE: translatable("a new key signs; tokens of the previous one stay valid"),
    FaultKind.KEY_DROP: translatable("a new key signs; tokens of the previous one are refused"),
    FaultKind.TOO_MANY_REQUESTS: translatable("every request is answered 429 with Retry-After"),
    FaultKind.UNAVAILABLE: translatable("every request is answered 503 with Retry-After"),
    FaultKind.SLOW: translatable("every request waits before it is answered"),
    FaultKind.CLOCK_JUMP: translatable(
        "the times of tokens are moved: iat, nbf, exp and timestamp"
    ),
}


class Amount(Struct, frozen=True):
    """The amount of a kind: its default and its bounds in seconds, and what it is."""

    default: int
    least: int
    most: int
    meaning: str


AMOUNTS: Final[Mapping[FaultKind, Amount]] = {
    FaultKind.TOO_MANY_REQUESTS: Amount(30, 1, 3600, translatable("the Retry-After")),
    FaultKind.UNAVAILABLE: Amount(30, 1, 3600, translatable("the Retry-After")),
    FaultKind.SLOW: Amount(5, 1, 120, translatable("the time before the answer")),
    FaultKind.CLOCK_JUMP: Amount(
        600, -34_560_000, 34_560_000, translatable("how far the times are moved")
    ),
}
_APART: Final[Sequence[frozenset[FaultKind]]] = (
    frozenset({FaultKind.EXPIRED_SECRET, FaultKind.GRACE_WARNING}),
    frozenset({FaultKind.TOO_MANY_REQUESTS, FaultKind.UNAVAILABLE}),
    frozenset({FaultKind.KEY_CHANGE, FaultKind.KEY_DROP}),
    # A moved `iat` would lie before the change of the key: each new token would be refused.
    frozenset({FaultKind.KEY_DROP, FaultKind.CLOCK_JUMP}),
)


class FaultRefused(Refusal, frozen=True):
    """The fault cannot be switched on as asked: the sentence says why."""

    kind = RefusalKind.CONFLICT
    sentence: str


def fault_conflict(wanted: FaultKind, active: FaultKind) -> PlainRefusal:
    """Refuse: another fault is in force that this one does not combine with."""
    return PlainRefusal(
        RefusalKind.CONFLICT, f"{wanted} does not combine with {active}: end that first"
    )


def operators_fault(fault: FaultKind) -> PlainRefusal:
    """Refuse: an operator switched this fault on: a member's admin neither changes nor ends it."""
    return PlainRefusal(
        RefusalKind.CONFLICT,
        f"an operator switched {fault} on: only an operator changes or ends it",
    )


TOO_MANY_FAULT_KEYS: Final = PlainRefusal(
    RefusalKind.CONFLICT, f"an entity gets {KEYS_A_DAY} keys of faults in 24 hours at most"
)


class Fault(Struct, frozen=True):
    """One fault. `seconds` is the amount of its kind, 0 where it has none."""

    fault_id: str
    entity_id: str
    kind: FaultKind
    seconds: int
    starts_at: datetime
    ends_at: datetime
    set_by: str
    by_operator: bool
    kid: str = ""

    def active(self, now: datetime) -> bool:
        """Return whether it is in force."""
        return self.starts_at <= now < self.ends_at


class WantedFault(Struct, frozen=True):
    """A fault as it is asked for; `seconds` is None for the default of the kind."""

    entity_id: str
    kind: FaultKind
    lasts: timedelta
    seconds: int | None = None


def amount_of(kind: FaultKind, wanted: int | None) -> int | FaultRefused:
    """Return the amount in seconds, the default of the kind where none is asked for."""
    allowed = AMOUNTS.get(kind)
    if allowed is None:
        return FaultRefused(f"by must be left out for {kind}") if wanted else 0
    if wanted is None:
        return allowed.default
    if wanted == 0 or not allowed.least <= wanted <= allowed.most:
        return FaultRefused(
            f"by must be {allowed.meaning}, from {allowed.least} to {allowed.most} seconds "
            f"and not 0, for {kind}"
        )
    return wanted


def conflict_with(kind: FaultKind, active: Iterable[Fault]) -> PlainRefusal | None:
    """Return the fault in force that a kind does not combine with."""
    for one in active:
        if one.kind is not kind and any({kind, one.kind} == pair for pair in _APART):
            return fault_conflict(kind, one.kind)
    return None


def with_faults(credentials: EntityCredentials, faults: Sequence[Fault]) -> EntityCredentials:
    """Return the credentials of an entity as its faults show them."""
    for one in faults:
        if one.kind is FaultKind.EXPIRED_SECRET:
            credentials = replace(
                credentials,
                secrets=tuple(_expired(secret, one.starts_at) for secret in credentials.secrets),
            )
        elif one.kind is FaultKind.GRACE_WARNING:
            credentials = replace(
                credentials,
                secrets=tuple(_in_grace(secret, one.ends_at) for secret in credentials.secrets),
            )
        elif one.kind is FaultKind.KEY_DROP:
            # Tokens have whole seconds: one of the very second of the change stays valid.
            since = one.starts_at.replace(microsecond=0)
            before = credentials.tokens_not_before
            credentials = replace(
                credentials, tokens_not_before=max(since, before) if before else since
            )
    return credentials


def moved(claims: Claims, by: timedelta) -> Claims:
    """Return claims with their times moved."""
    seconds = int(by.total_seconds())
    return {
        name: value + seconds if name in _CLOCK_CLAIMS and isinstance(value, int) else value
        for name, value in claims.items()
    }


def jump_of(faults: Iterable[Fault]) -> timedelta | None:
    """Return by how much the clock jumps; None where it does not."""
    return next(
        (timedelta(seconds=one.seconds) for one in faults if one.kind is FaultKind.CLOCK_JUMP), None
    )


def _expired(stored: StoredSecret, at: datetime) -> StoredSecret:
    secret = stored.secret
    until = min(secret.grace_until, at) if secret.grace_until else None
    return replace(
        stored, secret=replace(secret, expires_at=min(secret.expires_at, at), grace_until=until)
    )


def _in_grace(stored: StoredSecret, until: datetime) -> StoredSecret:
    secret = stored.secret
    if secret.state is not SecretState.CURRENT or secret.expires_at <= until:
        return stored
    return replace(stored, secret=replace(secret, state=SecretState.GRACE, grace_until=until))
