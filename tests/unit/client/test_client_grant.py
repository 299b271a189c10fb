import logging
from datetime import UTC, datetime

import pytest

from mudra.client import (
    GraceWarning,
    SecretRefused,
    ServiceUnavailable,
    TooManyRequests,
    UnexpectedResponse,
)
from mudra.client.grant import read_response
from mudra.client.renewal import Renewal, RenewalNeed
from mudra.shared.secret_text import SecretText

BODY = b'{"accessToken":"t","expiresIn":1000,"tokenType":"Bearer"}'
SECRET = SecretText("s")


def grant(body=BODY, headers=None, at=0.0, chance=0.5):
    return read_response(200, headers or {}, body, at, chance)


@pytest.mark.parametrize(("chance", "renew_at"), [(0, 750), (0.5, 800), (1, 850)])
def test_renewal_is_due_around_80_percent_of_the_life(chance, renew_at):
    assert grant(chance=chance).renew_at == pytest.approx(renew_at)


def test_the_warning_of_grace_has_its_end():
    body = BODY[:-1] + b',"message":"ends soon"}'

    warning = grant(body, {"sunset": "Sun, 01 Mar 2026 12:00:00 GMT"}).warning

    assert warning == GraceWarning("ends soon", datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize("end", ["soon", f"Sun, 01 Mar {'9' * 20} 12:00:00 GMT"])
def test_a_warning_without_a_readable_end_is_still_one(end):
    body = BODY[:-1] + b',"message":"ends soon"}'

    assert grant(body, {"sunset": end}).warning == GraceWarning("ends soon", None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, SecretRefused),
        (429, TooManyRequests),
        (500, ServiceUnavailable),
        (503, ServiceUnavailable),
        (400, UnexpectedResponse),
        (302, UnexpectedResponse),
        (404, UnexpectedResponse),
    ],
)
def test_each_refusal_has_its_kind(status, kind):
    with pytest.raises(kind, match="Unauthorized"):
        read_response(status, {}, b'{"errorCode":"Unauthorized"}', 0, 0)


@pytest.mark.parametrize(
    ("code", "way_out"), [("AddressNotListed", "ips"), ("ProofInvalid", "clock")]
)
def test_no_one_is_sent_to_reset_a_secret_that_is_right(code, way_out):
    with pytest.raises(SecretRefused) as refusal:
        read_response(401, {}, b'{"errorCode":"%s"}' % code.encode(), 0, 0)

    assert way_out in refusal.value.way_out
    assert "reset" not in str(refusal.value)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"errorCode":"<b>"}', b'{"errorCode":1}', b'{"errorCode":"\xff"}']
)
def test_an_unreadable_refusal_is_not_repeated(body):
    with pytest.raises(ServiceUnavailable, match=r"502 \(no errorCode\)"):
        read_response(502, {}, body, 0, 0)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"accessToken":"","expiresIn":1}', b'{"accessToken":"t","expiresIn":0}']
)
def test_a_yes_without_a_token_is_unexpected(body):
    with pytest.raises(UnexpectedResponse):
        grant(body)


@pytest.mark.parametrize(
    ("header", "pause"), [("30", 30), ("", 5), ("soon", 5), ("-1", 5), ("999999", 3600)]
)
def test_the_services_pause_is_kept_within_bounds(header, pause):
    with pytest.raises(TooManyRequests) as refusal:
        read_response(429, {"retry-after": header}, b"", 0, 0)

    assert refusal.value.retry_after == pause


def test_a_token_is_used_then_renewed_then_needed():
    state = Renewal(None)
    assert state.need(0) is RenewalNeed.REQUIRED

    state.succeeded(grant(), SECRET)

    assert state.need(799) is RenewalNeed.NONE
    assert state.need(800) is RenewalNeed.DUE
    assert state.need(999.9) is RenewalNeed.DUE
    assert state.need(1000) is RenewalNeed.REQUIRED


def test_a_failed_renewal_waits_and_keeps_the_token(caplog):
    state = Renewal(None)
    state.succeeded(grant(), SECRET)

    state.failed(ServiceUnavailable("down", "wait", 30), 800)

    assert state.need(829) is RenewalNeed.NONE
    assert state.need(830) is RenewalNeed.DUE
    assert "not renewed" in caplog.text


def test_without_a_token_the_last_error_is_raised_until_its_pause_is_over():
    state = Renewal(None)
    state.failed(SecretRefused("no", "look"), 0)

    with pytest.raises(SecretRefused):
        state.need(4.9)
    assert state.need(5) is RenewalNeed.REQUIRED


def test_a_warning_is_reported_once_and_the_secret_is_read_again(caplog):
    warnings = []
    state = Renewal(warnings.append)
    warned = grant(BODY[:-1] + b',"message":"ends soon"}')

    with caplog.at_level(logging.WARNING, "mudra.client"):
        state.succeeded(warned, SECRET)
        state.succeeded(warned, SECRET)

    assert [warning.message for warning in warnings] == ["ends soon"]
    assert state.secret is None


@pytest.mark.parametrize(
    ("token", "now", "need"),
    [("t", 30, RenewalNeed.DUE), ("t", 29, RenewalNeed.NONE), ("other", 30, RenewalNeed.NONE)],
)
def test_a_token_refused_by_a_peer_is_due_unless_young_or_another(token, now, need):
    state = Renewal(None)
    state.succeeded(grant(), SECRET)

    state.token_was_refused(token, now)

    assert state.need(now) is need
