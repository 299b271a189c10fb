"""The parts of every JSON response: the envelope (spec 2.2) and a struct of its own fields."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, ClassVar, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.shared.finding import Finding
from mudra.shared.refusal import ErrorCode, Refusal

DateTime = Annotated[
    str,
    Meta(extra_json_schema={"format": "date-time", "examples": ["2026-01-31T09:30:00.000Z"]}),
]


class ResponseBody(Struct, kw_only=True):
    """Base class of all response bodies, as they are encoded and as OpenAPI describes them.

    A subclass adds the response's own fields. `Envelope.encode` fills those of the
    envelope, so that every response begins with them.
    """

    envelope_fields: ClassVar[tuple[str, ...]] = ("ver", "timestamp", "txnId")
    """Names of the envelope's fields in this response."""

    ver: Annotated[str, Meta(examples=["1.0.0"])] | UnsetType = UNSET
    timestamp: DateTime | UnsetType = UNSET
    txn_id: Annotated[str, Meta(examples=["0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01"])] | UnsetType = (
        field(name="txnId", default=UNSET)
    )

    @property
    def txn_id_of_document(self) -> str:
        """The transaction ID of the document that was sent, where it has its own; else empty."""
        return ""


class StatusResponse(ResponseBody, kw_only=True):
    """The act that was done."""

    status: str


class Page(ResponseBody, kw_only=True):
    """Base of responses that hold a page of a list."""

    next: (
        Annotated[str, Meta(description="`after` of the next page, when there is one")] | UnsetType
    ) = UNSET


R = TypeVar("R")


def cut_page(
    rows: Sequence[R], limit: int, key: Callable[[R], str]
) -> tuple[Sequence[R], str | UnsetType]:
    """Return the rows of a page of which one more was read, and its `next`."""
    page = rows[:limit]
    return page, key(page[-1]) if len(rows) > limit else UNSET


class EventStream(Struct, frozen=True):
    """Server-sent events."""


class CsvText(Struct, frozen=True):
    """A response as CSV (RFC 4180)."""

    text: str


class PdfFile(Struct, frozen=True):
    """A response as PDF (ISO 32000), which is made when the call's transaction has ended."""

    make: Callable[[], Awaitable[bytes | Refusal]]


class ErrorBody(ResponseBody, kw_only=True):
    """Error body (spec 7)."""

    error_code: Annotated[
        str,
        Meta(
            description="a stable word, for programs",
            extra_json_schema={"enum": [code.value for code in ErrorCode]},
            examples=[ErrorCode.INVALID_REQUEST.value],
        ),
    ] = field(name="errorCode")
    error_msg: Annotated[
        str,
        Meta(
            description="a sentence, for people; never holds anything secret",
            examples=["secretExpiryDays must be a whole number from 1 to 180, not 365"],
        ),
    ] = field(name="errorMsg")


class FindingsErrorBody(ErrorBody, kw_only=True):
    """Error body with everything that is wrong with a document, if it could be read."""

    findings: Sequence[Finding] | UnsetType = UNSET
