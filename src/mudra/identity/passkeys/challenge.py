"""Challenges, and what a browser is asked with them (WebAuthn 5.1.8, 5.1.9 and 13.4.3).

A challenge is 256 random bits, stored, good for one answer within five minutes, by the browser
that it was given to, for what it was given for.
"""

import base64
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import msgspec
from msgspec import Struct, field

from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.passkeys.assertion_rule import user_handle
from mudra.identity.passkeys.passkey import Challenge, Passkey, Purpose
from mudra.identity.passkeys.relying_party import RelyingParty
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.storage.database.transaction import Transaction

LIFE: Final = timedelta(minutes=5)
ALGORITHMS: Final = (-8, -7, -257)
"""EdDSA, ECDSA with SHA-256, RSA with SHA-256, in the order of preference (IANA COSE)."""
MAX_WAITING: Final = 10_000
"""Challenges of browsers that are not signed in, over all addresses; one more takes the place of
one of the busiest address (0077)."""
MAX_WAITING_OF_ADDRESS: Final = 50
_BYTES: Final = 32


class _Named(Struct, frozen=True):
    id: str
    name: str


class _Person(Struct, frozen=True, rename="camel"):
    id: str
    name: str
    display_name: str


class _Parameter(Struct, frozen=True):
    alg: int
    type: str = "public-key"


class _Descriptor(Struct, frozen=True):
    id: str
    type: str = "public-key"


class _Selection(Struct, frozen=True, rename="camel"):
    """The passkey itself says who its person is, and asks for a fingerprint, face or PIN."""

    resident_key: str = "required"
    require_resident_key: bool = True
    user_verification: str = "required"


class _Creation(Struct, frozen=True, rename="camel"):
    challenge: str
    rp: _Named
    user: _Person
    exclude_credentials: Sequence[_Descriptor]
    timeout: int
    pub_key_cred_params: Sequence[_Parameter] = tuple(_Parameter(alg) for alg in ALGORITHMS)
    authenticator_selection: _Selection = field(default_factory=_Selection)
    attestation: str = "none"


class _Request(Struct, frozen=True, rename="camel"):
    challenge: str
    rp_id: str
    allow_credentials: Sequence[_Descriptor]
    timeout: int
    user_verification: str = "required"


async def ask_to_create(  # its collaborators, each named
    tx: Transaction,
    user: User,
    holder: bytes,
    party: RelyingParty,
    network: str,
    random_bytes: Callable[[int], bytes],
) -> str:
    """Store a challenge for a new passkey; return the options of the browser as JSON."""
    value = await _new(tx, holder, Purpose.ADD, random_bytes)
    own = await SecondFactors(tx).passkeys.of_user(user.user_id)
    person = _Person(_base64(user_handle(user.user_id)), user.email, user.name or user.email)
    return _json(
        _Creation(
            _base64(value), _Named(party.rp_id, network), person, _descriptors(own), _timeout_ms()
        )
    )


async def ask_to_prove(
    tx: Transaction,
    user: User,
    holder: bytes,
    party: RelyingParty,
    random_bytes: Callable[[int], bytes],
) -> str:
    """Store a challenge for a person who is known; return the options of the browser as JSON."""
    value = await _new(tx, holder, Purpose.PROVE, random_bytes)
    own = await SecondFactors(tx).passkeys.of_user(user.user_id)
    return _json(_Request(_base64(value), party.rp_id, _descriptors(own), _timeout_ms()))


async def ask_to_sign_in(
    tx: Transaction,
    holder: bytes,
    address: str,
    party: RelyingParty,
    random_bytes: Callable[[int], bytes],
) -> str | TooManyAttempts:
    """Store a challenge for anyone; an address of which fifty wait gets no other."""
    now = await People(tx).now()
    of_address, of_all = await SecondFactors(tx).passkeys.waiting(address, now)
    if of_address >= MAX_WAITING_OF_ADDRESS:
        return TooManyAttempts(now + LIFE, now)
    if of_all >= MAX_WAITING:
        await SecondFactors(tx).passkeys.make_room(now)
    value = await _new(tx, holder, Purpose.SIGN_IN, random_bytes, address)
    return _json(_Request(_base64(value), party.rp_id, (), _timeout_ms()))


async def _new(
    tx: Transaction,
    holder: bytes,
    purpose: Purpose,
    random_bytes: Callable[[int], bytes],
    address: str = "",
) -> bytes:
    value, expires_at = random_bytes(_BYTES), await People(tx).now() + LIFE
    await SecondFactors(tx).passkeys.put_challenge(
        Challenge(holder, purpose, value, expires_at, address)
    )
    return value


def _descriptors(passkeys: Sequence[Passkey]) -> Sequence[_Descriptor]:
    return [_Descriptor(_base64(one.credential_id)) for one in passkeys]


def _timeout_ms() -> int:
    return int(LIFE.total_seconds() * 1000)


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _json(options: Struct) -> str:
    return msgspec.json.encode(options).decode()
