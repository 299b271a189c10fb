"""When to send what, and what an answer means: pure decisions (quality G2 to G5)."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from mudra.agent.clock import MINUTE, SECOND
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW
from mudra.agent.spool.spool import QueuedPayload

MIN_LENGTH: Final = SECOND
MAX_LENGTH: Final = 5 * MINUTE
SPREAD: Final = MINUTE
IN_FLIGHT: Final = 2
BETWEEN_STARTS: Final = SECOND // 2
MAX_ASKED: Final = 60 * MINUTE
"""A `Retry-After` beyond this is taken as this: an agent must not be silenced for days."""
RETRIED: Final = frozenset({408, 425, 429})
_UNAUTHORIZED: Final = 401
_OK: Final = 200

Uniform = Callable[[float, float], float]
"""A random number between two bounds."""


class Receipt(msgspec.Struct, frozen=True, rename="camel"):
    """The operator's answer to a payload that is durable there, decisions part 5."""

    status: str
    receipt_id: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """The operator has it."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Refused:
    """The operator will never take it: to the dead letters, with the answer."""

    status: int
    answer: str


@dataclass(frozen=True, slots=True)
class NotNow:
    """Try again later; `asked` is the wait in milliseconds that the operator asked for."""

    why: str
    asked: int | None = None


@dataclass(frozen=True, slots=True)
class TokenRefused:
    """Read the credentials anew and get another token."""

    why: str


Outcome = Delivered | Refused | NotNow | TokenRefused


def judge(status: int, headers: Mapping[str, str], body: bytes, now: int) -> Outcome:
    """What an answer to a push means. Garbage with a 200 is no receipt, so it is no delivery."""
    if status == _OK:
        try:
            receipt = msgspec.json.decode(body, type=Receipt)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return NotNow("the operator answered 200 without a receipt")
        if receipt.status not in {"accepted", "duplicate", "replaced"} or not receipt.receipt_id:
            return NotNow("the operator answered 200 with a receipt that says nothing")
        return Delivered(receipt)
    if status == _UNAUTHORIZED:
        return TokenRefused("the operator refused the token (401)")
    if status in RETRIED or not 400 <= status <= 499:  # noqa: PLR2004 - the class of 4xx
        return NotNow(f"the operator answered {status}", retry_after(headers, now))
    return Refused(status, body[:4096].decode("utf-8", "replace"))


def retry_after(headers: Mapping[str, str], now: int) -> int | None:
    """Milliseconds to wait, from `Retry-After` in seconds or as a date; None without it."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(int(text[:9]) * SECOND, MAX_ASKED)
    try:
        at = int(parsedate_to_datetime(text).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return None
    return min(max(at - now, 0), MAX_ASKED)


def pause(failures: int, asked: int | None, uniform: Uniform) -> int:
    """Milliseconds to wait after this many failures in a row: full jitter, 1 s to 5 min."""
    longest = min(MAX_LENGTH, MIN_LENGTH * 2 ** min(failures, 20))
    own = int(uniform(MIN_LENGTH, longest))
    return own if asked is None else max(asked, MIN_LENGTH) + int(uniform(0, MIN_LENGTH))


def offset(aa_id: str) -> int:
    """0 to 60 s, always the same for one AA, so that agents do not push in step."""
    digest = hashlib.sha256(aa_id.encode()).digest()
    return int.from_bytes(digest[:8]) % SPREAD


def due_at(window: int, aa_id: str) -> int:
    """When the payloads of a window are first sent."""
    return window + WINDOW + CLOSE_DELAY + offset(aa_id)


def choose(
    queued: Iterable[QueuedPayload], now: int, blocked: Collection[int]
) -> QueuedPayload | None:
    """The next to send: the live window first, then the oldest.

    Live is the window that closed last, while it is younger than the next
    one's closing.
    """
    ready = [one for one in queued if one.due <= now and one.id not in blocked]
    live = [one for one in ready if now - one.window < 2 * WINDOW + CLOSE_DELAY + SPREAD]
    return max(live, key=lambda one: (one.window, -one.id)) if live else next(iter(ready), None)
