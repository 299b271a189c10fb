"""What default serializers write for "whole" and for "not set" is read as it is meant."""

from datetime import datetime

import httpx2
import pytest
from tests.http.token_requests import RESET
from tests.support.members import new_member
from tests.support.service import Service

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("sent", "days"), [("30.0", 30), ("3e1", 30), ("0.3e2", 30), ("null", 180)]
)
def test_days_of_a_reset(service: Service, sent: str, days: int) -> None:
    member = new_member(service)
    body = (
        f'{{"entityId": "{member.entity_id}", "secretExpiryDays": {sent}, '
        '"oldSecretValidity": null, "timestamp": "2026-11-26T10:20z", "ver": null}'
    )

    answer = httpx2.post(
        f"{service.issuer}{RESET}",
        content=body,
        headers={**member.bearer(), "content-type": "application/json"},
    )

    assert answer.status_code == 200, answer.text
    reset = answer.json()
    span = reset["expiresOn"] - _milliseconds(reset["timestamp"])
    assert abs(span - days * DAY_MS) < 60_000


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
