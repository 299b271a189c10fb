"""Answers as the wire carries them, and the errors of every kind in one shape (spec 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from litestar import Response

from mudra.http.envelope import Body, Envelope
from mudra.http.errors import Problem, problem_of

_PRIVATE: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer before it is framed as HTTP."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response[bytes]:
        """Frame it for Litestar."""
        return Response(
            content=self.body,
            status_code=self.status,
            media_type="application/json",
            headers=dict(self.headers),
        )


def success(
    envelope: Envelope,
    members: Body,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Answer with the envelope and its members; never cached, for it may carry a token (T7)."""
    return Answer(
        status,
        envelope.body(members),
        {**_PRIVATE, "X-Request-Id": envelope.txn_id, **(headers or {})},
    )


def refusal(envelope: Envelope, outcome: object) -> Answer:
    """Answer with the error body for a refusal that errors.py knows."""
    return told(envelope, problem_of(outcome))


def told(envelope: Envelope, problem: Problem) -> Answer:
    """Answer with the error body of spec 7."""
    return Answer(
        problem.status,
        envelope.body({"errorCode": problem.code.value, "errorMsg": problem.sentence}),
        {**_PRIVATE, "X-Request-Id": envelope.txn_id, **problem.headers},
    )
