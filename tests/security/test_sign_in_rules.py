"""Signing in, the use case itself with ports in memory: hashes, waits, the end."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from tests.support.http_clients import new_address

from mudra.audit.event import AuditEntry, Caller
from mudra.identity.accounts.user import User, UserState
from mudra.identity.sign_in import sign_in as use_case
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts, sign_in, throttle
from mudra.identity.sign_in.throttle import FRESH, Counted, History, Standing
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.fair_queue import Queue

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASHA = User(
    "u-1",
    "asha@finsight.example",
    "Asha Rao",
    UserState.ACTIVE,
    "hash-of-right",
    ("FINSIGHT-FIU",),
    password_set_at=NOW - timedelta(days=1),
)


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the use case find its stores in what it is given as the transaction."""
    for store in ("Attempts", "AuditLog", "People"):
        monkeypatch.setattr(use_case, store, lambda memory: memory)


@dataclass
class InMemory:
    """People, attempts and audit_log of one test."""

    users: dict[str, User]
    at: datetime = NOW
    counts: dict[tuple[Counted, str], History] = field(default_factory=dict)
    by_address: dict[str, list[datetime]] = field(default_factory=dict)
    acts: list[AuditEntry] = field(default_factory=list)
    entered: list[tuple[str, str, datetime]] = field(default_factory=list)
    hashes: int = 0
    meanwhile: dict[str, User] = field(default_factory=dict)
    """Who is stored as the password is hashed."""
    guesses: list[object] = field(default_factory=list)

    async def now(self) -> datetime:
        return self.at

    async def by_username(self, name: str) -> User | None:
        return self.users.get(name)

    async def history(self, counted: Counted, name: str, *, lock: bool) -> History:  # noqa: ARG002  # one thread
        return self.counts.get((counted, name), FRESH)

    async def standing(self, username: str, address: str, *, from_there: bool) -> Standing:
        return Standing(
            self.at,
            self.counts.get((Counted.PASSWORD, username), FRESH),
            self.by_address.get(address, []),
            [
                at
                for who, where, at in self.entered
                if who == username and (where == address or not from_there)
            ],
        )

    async def save(self, counted: Counted, name: str, history: History) -> None:
        self.counts[(counted, name)] = history

    async def address_failed(self, address: str, now: datetime) -> None:
        self.by_address.setdefault(address, []).append(now)

    async def lock_address(self, _: str) -> None:
        """One thread needs no lock."""

    async def succeeded(self, name: str, address: str, now: datetime) -> None:
        self.entered.append((name, address, now))

    async def guessed(self, *guesses: object) -> None:
        self.guesses.append(guesses)

    async def append(self, entry: AuditEntry) -> None:
        self.acts.append(entry)

    async def verify(self, stored: str | None, password: SecretText, **_: str) -> bool:
        self.hashes += 1
        self.users.update(self.meanwhile)
        return stored == f"hash-of-{password.reveal()}"

    @contextlib.asynccontextmanager
    async def transaction(self):
        yield self

    def needs_rehash(self, stored: str) -> bool:  # noqa: ARG002  # never
        return False


def attempt(memory: InMemory, name: str, password: str, address: str = "") -> object:
    caller = Caller("nobody", address or new_address())

    async def then(_: InMemory, user: User) -> User:
        return user

    return asyncio.run(
        sign_in(
            name,
            SecretText(password),
            caller,
            then,
            origin=caller.address,
            open_transaction=memory.transaction,
            hasher=memory,
            queue=Queue(1, 1.0),
            hourly=20,
        )
    )


@pytest.mark.parametrize(
    "name",
    ["nobody@member.example", ASHA.email, "invited@member.example", "off@member.example", "???"],
)
def test_exactly_one_hash_is_made_whatever_the_name(name: str) -> None:
    """A6: one hash on every branch."""
    memory = InMemory(
        {
            ASHA.email: ASHA,
            "invited@member.example": replace(
                ASHA, email="invited@member.example", state=UserState.INVITED, password_hash=None
            ),
            "off@member.example": replace(
                ASHA, email="off@member.example", state=UserState.DISABLED
            ),
        }
    )

    outcome = attempt(memory, name, "wrong")

    assert isinstance(outcome, SignInRefused)
    assert memory.hashes == 1
    assert memory.counts[Counted.PASSWORD, name.casefold()].failures == 1


def test_after_a_hundred_failures_the_password_is_off_until_it_is_set_by_link() -> None:
    """A1: guesses are few and slow."""
    memory = InMemory({ASHA.email: ASHA})
    for _ in range(throttle.MAX_FAILURES):
        assert isinstance(attempt(memory, ASHA.email, "wrong"), SignInRefused)
        memory.at += timedelta(minutes=16)

    right_but_off = attempt(memory, ASHA.email, "right")
    counted = memory.counts[Counted.PASSWORD, ASHA.email].failures
    memory.counts[Counted.PASSWORD, ASHA.email] = (
        FRESH  # what identity/accounts/acts/set_password.py does
    )

    assert isinstance(right_but_off, SignInRefused)
    assert counted == throttle.MAX_FAILURES
    assert isinstance(attempt(memory, ASHA.email, "right"), User)


def test_a_right_password_within_a_wait_is_refused_and_not_hashed() -> None:
    memory = InMemory({ASHA.email: ASHA})
    for _ in range(4):
        attempt(memory, ASHA.email, "wrong")
    hashed = memory.hashes

    outcome = attempt(memory, ASHA.email, "right")

    assert isinstance(outcome, TooManyAttempts)
    assert outcome.retry_at == NOW + timedelta(seconds=1)
    assert memory.hashes == hashed


def test_waits_never_exceed_fifteen_minutes() -> None:
    """A1: guesses are few and slow."""
    memory = InMemory({ASHA.email: ASHA})
    memory.counts[Counted.PASSWORD, ASHA.email] = History(99, NOW)

    outcome = attempt(memory, ASHA.email, "right")

    assert isinstance(outcome, TooManyAttempts)
    assert outcome.retry_at == NOW + timedelta(minutes=15)


def test_a_right_password_is_right_although_it_is_hashed_again_meanwhile() -> None:
    """Of several sign-ins at once after a change of the parameters, the first hashes it again."""
    again = replace(ASHA, password_hash="another-hash-of-right")
    memory = InMemory({ASHA.email: ASHA}, meanwhile={ASHA.email: again})

    assert attempt(memory, ASHA.email, "right") == again
    assert memory.counts == {}


@pytest.mark.parametrize(
    "meanwhile",
    [
        replace(ASHA, password_hash="hash-of-new", password_set_at=NOW),
        replace(ASHA, user_id="u-2", password_hash="hash-of-theirs"),
    ],
    ids=["a new password", "another person with the address"],
)
def test_a_password_that_is_none_any_more_is_refused_and_counted(meanwhile: User) -> None:
    memory = InMemory({ASHA.email: ASHA}, meanwhile={ASHA.email: meanwhile})

    assert attempt(memory, ASHA.email, "right") == SignInRefused()
    assert memory.counts[Counted.PASSWORD, ASHA.email].failures == 1
