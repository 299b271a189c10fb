"""The fields that every response of the token service begins with (spec 2.2)."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

from mudra.http.response.response_body import ResponseBody
from mudra.shared.ids import fresh_id
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.time_text import iso_ms, read_time

VERSION: Final = "1.0.0"
MAX_TXN_ID: Final = 128
# A day that the calendar has; the document says it too, so that no client sends another.
_DAY: Final = (
    r"([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-8]))|[0-9]{2}(0[48]|[2468][048]|[13579][26])-02-29)"
)
_MINUTE: Final = r"([01][0-9]|2[0-3]):[0-5][0-9]"
_SECOND: Final = r":([0-5][0-9]|60)(\.[0-9]{1,9})?"
_VISIBLE: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")

_encode: Final = msgspec.json.Encoder().encode


class Envelope(msgspec.Struct, frozen=True):
    """The transaction ID and the time of a response."""

    txn_id: str
    now: datetime

    def encode(self, body: ResponseBody) -> bytes:
        """Encode a response with the envelope's fields first."""
        body.ver, body.timestamp = VERSION, iso_ms(self.now)
        if "txnId" in body.envelope_fields:
            body.txn_id = self.txn_id
        return _encode(body)


class RequestEnvelope(msgspec.Struct, frozen=True):
    """What every request may also have (spec 2.3); `read_txn_id` reads it more leniently."""

    ver: Annotated[
        str, Meta(max_length=16, description="version of the interface", examples=["1.0.0"])
    ] = ""
    timestamp: Annotated[
        str,
        Meta(
            pattern=rf"^({_DAY}T{_MINUTE}{_SECOND}(Z|[+-]{_MINUTE})?)?$",
            description="ISO 8601 date-time",
            examples=["2026-01-31T09:30:00.000Z"],
        ),
    ] = ""
    txn_id: Annotated[
        str,
        Meta(
            max_length=128,
            pattern=r"^([!-~]([ -~]*[!-~])?)?$",
            description="your transaction ID, 1 to 128 visible ASCII characters; comes back",
            examples=["0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01"],
        ),
    ] = field(name="txnId", default="")


def new_txn_id() -> str:
    """Return a new transaction ID for a request without one."""
    return fresh_id()


class EnvelopeFault(Refusal, frozen=True):
    """One of the optional fields is not valid: the sentence names it."""

    kind = RefusalKind.INVALID
    sentence: str


def read_txn_id(body: Mapping[str, object]) -> str | EnvelopeFault:
    """Return the request's `txnId`, or a new one; check `ver` and `timestamp` leniently."""
    version, timestamp, txn_id = body.get("ver"), body.get("timestamp"), body.get("txnId")
    if version is not None and not (isinstance(version, str) and len(version) <= 16):  # noqa: PLR2004
        return EnvelopeFault("ver must be a text of at most 16 characters, such as 1.0.0")
    if timestamp not in (None, "") and not (
        isinstance(timestamp, str) and read_time(timestamp.strip())
    ):
        return EnvelopeFault("timestamp must be an ISO 8601 date-time, 2026-01-31T09:30:00.000Z")
    if txn_id in (None, ""):
        return new_txn_id()
    if not (isinstance(txn_id, str) and len(txn_id) <= MAX_TXN_ID and _VISIBLE.fullmatch(txn_id)):
        return EnvelopeFault(f"txnId must be a text of 1 to {MAX_TXN_ID} visible ASCII characters")
    return txn_id
