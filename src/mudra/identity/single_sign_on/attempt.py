"""Begin a sign-in at the provider, and recognize what comes back (RFC 6749 10.12, RFC 9700).

A cookie of 256 random bits belongs to one attempt. Nonce and PKCE verifier are derived from it, so
that an answer is of use only in the browser that asked, and nothing secret is stored.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from mudra.identity.accounts.people_store import People
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.identity.single_sign_on.claims import SignOnRefused
from mudra.identity.single_sign_on.ports import SignOnAttempt, SignOnRequest
from mudra.identity.single_sign_on.sign_on_store import SingleSignOn
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

LIFE: Final = timedelta(minutes=10)
MAX_WAITING: Final = 10_000
"""Attempts over all addresses; one more takes the place of one of the busiest address (0077)."""
MAX_WAITING_OF_ADDRESS: Final = 50
_BYTES: Final = 32


async def begin_attempt(  # its collaborators, each named
    tx: Transaction,
    path: str,
    address: str,
    redirect_uri: str,
    random_bytes: Callable[[int], bytes],
    *,
    fresh: bool,
) -> tuple[SecretText, SignOnRequest] | TooManyAttempts:
    """Store an attempt; return the cookie of the browser and what it takes to the provider.

    An address that has begun fifty within ten minutes waits.
    """
    now = await People(tx).now()
    of_address, of_all = await SingleSignOn(tx).waiting(address, now)
    if of_address >= MAX_WAITING_OF_ADDRESS:
        return TooManyAttempts(now + LIFE, now)
    if of_all >= MAX_WAITING:
        await SingleSignOn(tx).make_room(now)
    cookie, state = SecretText(_text(random_bytes(_BYTES))), _text(random_bytes(_BYTES))
    await SingleSignOn(tx).put_attempt(
        SignOnAttempt(_hash(cookie.reveal()), _hash(state), path, address, now + LIFE)
    )
    return cookie, _request(cookie, state, redirect_uri, fresh=fresh)


async def end_attempt(
    tx: Transaction, cookie: SecretText | None, state: str, redirect_uri: str
) -> tuple[str, SignOnRequest] | SignOnRefused:
    """Return page and request of the attempt that came back; each comes back once."""
    now = await People(tx).now()
    attempt = None
    if cookie is not None:
        attempt = await SingleSignOn(tx).take_attempt(_hash(cookie.reveal()), now)
    if cookie is None or attempt is None or not hmac.compare_digest(attempt.state, _hash(state)):
        return SignOnRefused("no-attempt")
    return attempt.path, _request(cookie, state, redirect_uri, fresh=False)


def _request(cookie: SecretText, state: str, redirect_uri: str, *, fresh: bool) -> SignOnRequest:
    secret = cookie.reveal()
    nonce = _text(_hash(f"nonce:{secret}"))
    verifier = SecretText(_text(_hash(f"verifier:{secret}")))
    return SignOnRequest(state, nonce, verifier, redirect_uri, fresh)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
