"""When to send which payload, and what a response means: pure decisions."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from mudra.agent.clock import HOUR, MINUTE, SECOND
from mudra.agent.counting.window import CLOSE_DELAY, WINDOW
from mudra.agent.spool.payload_files import QueuedPayload
from mudra.shared.text.undecodable import UNDECODABLE

MIN_DELAY: Final = SECOND
MAX_DELAY: Final = MINUTE
"""An operator that was down may be back for some minutes only."""
SPREAD: Final = MINUTE
IN_FLIGHT: Final = 2
BETWEEN_STARTS: Final = SECOND // 2
MAX_RETRY_AFTER: Final = MAX_DELAY
"""A longer `Retry-After` is taken as this: the page of a proxy must not silence an agent for an
hour when the operator is back after minutes."""
MAX_AHEAD: Final = HOUR
"""A clock may be this far ahead of the operator's. Beyond it the windows themselves are wrong, and
stay refused."""
RETRIED: Final = frozenset({408, 425, 429})
OF_A_PAYLOAD: Final = frozenset({400, 409, 413, 415, 422})
"""What an operator answers about a payload; 403 to 405 are about the address or a proxy's rules."""
_INVALID: Final = 400
_UNAUTHORIZED: Final = 401
_OK: Final = 200

_CODE: Final = re.compile(r"[A-Za-z]{1,40}")

Uniform = Callable[[float, float], float]
"""Returns a random number between two bounds."""


class Receipt(msgspec.Struct, frozen=True, rename="camel"):
    """The operator's response to a payload that is durable there."""

    status: str
    receipt_id: str


class _Error(msgspec.Struct, frozen=True):
    errorCode: str = ""  # noqa: N815  # the wire name


@dataclass(frozen=True, slots=True)
class Delivered:
    """The operator has it."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Refused:
    """The operator will never accept it: it becomes a dead letter."""

    status: int
    answer: str


@dataclass(frozen=True, slots=True)
class NotNow:
    """Try again later, after `retry_after` milliseconds if the operator asked for a wait."""

    reason: str
    retry_after: int | None = None
    others_too: bool = True
    """Whether it says something about other payloads as well."""


@dataclass(frozen=True, slots=True)
class TokenRefused:
    """Get another token, then try again."""

    reason: str


PushOutcome = Delivered | Refused | NotNow | TokenRefused


def classify_response(
    status: int, headers: Mapping[str, str], body: bytes, now: int
) -> PushOutcome:
    """Return what a response to a push means. A 200 without a receipt is no delivery.

    Only an error of the operator itself, which has an `errorCode` (spec 7), refuses a payload: a
    page of a proxy or of a wrong address says nothing about it.
    """
    if status == _OK:
        try:
            receipt = msgspec.json.decode(body, type=Receipt)
        except UNDECODABLE:
            return NotNow("the operator answered 200 without a receipt")
        if receipt.status not in {"accepted", "duplicate", "replaced"} or not receipt.receipt_id:
            return NotNow("the operator answered 200 with an incomplete receipt")
        return Delivered(receipt)
    if status == _UNAUTHORIZED:
        return TokenRefused(f"the operator refused the token ({f'401 {_code(body)}'.strip()})")
    code = _code(body)
    if status in OF_A_PAYLOAD and code:
        return Refused(status, body[:4096].decode("utf-8", "replace"))
    reason = f"the operator answered {status}"
    if status not in RETRIED and 400 <= status <= 499:  # noqa: PLR2004 - the class of 4xx
        reason += f" {code}" if code else " without an errorCode"
    return NotNow(reason, parse_retry_after(headers, now))


def retry_after_its_end(outcome: PushOutcome, window: int, operators_time: int) -> PushOutcome:
    """Return NotNow in place of the refusal of a window that has not ended by the operator's clock.

    A window in the future is invalid there, and only until it has ended.
    """
    remaining = window + WINDOW - operators_time
    if isinstance(outcome, Refused) and outcome.status == _INVALID and 0 < remaining <= MAX_AHEAD:
        return NotNow(
            "the operator refuses a window that has not ended by its clock; the clock of this "
            "machine is ahead: check its time service",
            remaining,
            others_too=False,
        )
    return outcome


def _code(body: bytes) -> str:
    """Return the operator's error code; empty without one."""
    try:
        code = msgspec.json.decode(body, type=_Error).errorCode
    except UNDECODABLE:
        return ""
    return code if _CODE.fullmatch(code) else ""


def parse_retry_after(headers: Mapping[str, str], now: int) -> int | None:
    """Return milliseconds to wait, from `Retry-After` in seconds or as a date; None without it."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(int(text[:9]) * SECOND, MAX_RETRY_AFTER)
    at = parse_http_date(text)
    return None if at is None else min(max(at - now, 0), MAX_RETRY_AFTER)


def parse_http_date(text: str) -> int | None:
    """Return milliseconds since 1970 of an HTTP date; None when it is not one."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * SECOND)
    except (ValueError, TypeError, OverflowError):
        return None


def retry_delay(failures: int, retry_after: int | None, uniform: Uniform) -> int:
    """Return milliseconds to wait after so many failures in a row: full jitter, 1 s to 1 min.

    Never less than was asked for, with up to 1 s of jitter within the minute.
    """
    longest = min(MAX_DELAY, MIN_DELAY * 2 ** min(failures, 20))
    own = int(uniform(MIN_DELAY, longest))
    if retry_after is None:
        return own
    asked = max(retry_after, MIN_DELAY)
    return max(asked, min(asked + int(uniform(0, MIN_DELAY)), MAX_DELAY))


def push_offset(aa_id: str) -> int:
    """Return 0 to 60 s, always the same for one AA, so that agents do not push in step."""
    digest = hashlib.sha256(aa_id.encode()).digest()
    return int.from_bytes(digest[:8]) % SPREAD


def due_at(window: int, aa_id: str) -> int:
    """Return when the payloads of a window are first sent."""
    return window + WINDOW + CLOSE_DELAY + push_offset(aa_id)


def next_payload(
    queued: Iterable[QueuedPayload], now: int, blocked: Collection[str], aa_id: str
) -> QueuedPayload | None:
    """Return the next payload to send: the live window first, then the oldest.

    Live is the window that closed last, while it is younger than the next
    one's closing.
    """
    ready = [one for one in queued if due_at(one.window, aa_id) <= now and one.name not in blocked]
    live = [one for one in ready if now - one.window < 2 * WINDOW + CLOSE_DELAY + SPREAD]
    return max(live, key=lambda one: one.window) if live else next(iter(ready), None)
