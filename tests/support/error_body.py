"""The body that every error response must have (spec 7)."""

import re
import uuid

import httpx2

MEMBERS = ["ver", "timestamp", "txnId", "errorCode", "errorMsg"]
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def assert_error(
    answer: httpx2.Response, status: int, code: str, names: str = "", *, txn_id: str | None = None
) -> None:
    """Check an error answer whole: status, code, members, headers, and the word it must name."""
    shown = f"{answer.status_code} {answer.text}"
    assert answer.status_code == status, shown
    assert answer.headers["content-type"] == "application/json", shown
    assert answer.headers.get_list("cache-control") == ["no-store"], shown
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"], shown
    body = answer.json()
    assert list(body) == MEMBERS, shown
    assert all(isinstance(value, str) for value in body.values()), shown
    assert body["ver"] == "1.0.0", shown
    assert INSTANT.fullmatch(body["timestamp"]), shown
    assert answer.headers.get_list("x-request-id") == [body["txnId"]], shown
    if txn_id is None:
        uuid.UUID(body["txnId"])
    else:
        assert body["txnId"] == txn_id, shown
    assert body["errorCode"] == code, shown
    assert names in body["errorMsg"], shown
    assert len(body["errorMsg"]) > 10, shown  # a sentence, not a word
