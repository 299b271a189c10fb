"""The limits of specification part 8 on resets, and what a refusal says."""

import math
import re
from datetime import datetime

import httpx2
import pytest
from tests.support.members import Member, new_member


def next_time(refused: httpx2.Response) -> datetime:
    found = re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", refused.json()["errorMsg"])
    assert found, refused.text
    return datetime.fromisoformat(found[0])


def check_refusal(refused: httpx2.Response, code: str, about_s: float) -> None:
    assert (refused.status_code, refused.json()["errorCode"]) == (429, code)
    wait = int(refused.headers["Retry-After"])
    assert about_s - 30 < wait <= about_s
    reported = next_time(refused) - datetime.fromisoformat(refused.json()["timestamp"])
    assert math.ceil(reported.total_seconds()) == pytest.approx(wait, abs=1)
    assert refused.headers["RateLimit-Policy"] == '"reset";q=5;w=86400'
    assert refused.headers["RateLimit"] == f'"reset";r=0;t={wait}'


def test_a_reset_is_refused_for_5_minutes_after_one_and_changes_nothing(
    each_member: Member,
) -> None:
    headers = each_member.bearer()
    first = each_member.reset(headers, oldSecretValidity=7).json()

    refused = each_member.reset(headers)

    check_refusal(refused, "ResetTooSoon", 300)
    shown = each_member.read(headers).json()
    assert (shown["secret"], shown["oldSecretValidity"]) == (first["secret"], 7)
    each_member.service.advance("PT4M45S")
    check_refusal(each_member.reset(headers), "ResetTooSoon", 15)
    each_member.service.advance("PT15S")
    assert each_member.reset(headers).status_code == 200


def test_refused_resets_neither_count_nor_restart_the_wait(each_member: Member) -> None:
    headers = each_member.bearer()
    each_member.reset(headers)
    each_member.service.advance("PT4M")

    refused = [each_member.reset(headers) for _ in range(8)]
    each_member.service.advance("PT1M1S")

    assert {answer.status_code for answer in refused} == {429}
    assert each_member.reset(headers).status_code == 200


def test_a_sixth_reset_is_refused_until_24_hours_after_the_first(each_member: Member) -> None:
    service, headers = each_member.service, each_member.bearer()
    for _ in range(5):
        last = each_member.reset(headers)
        assert last.status_code == 200
        service.advance("PT6M")

    refused = each_member.reset(headers)

    check_refusal(refused, "ResetLimitReached", 24 * 3600 - 30 * 60)
    assert each_member.read(headers).json()["secret"] == last.json()["secret"]
    service.advance("PT23H29M")
    check_refusal(each_member.reset(headers), "ResetLimitReached", 60)
    service.advance("PT1M")
    assert each_member.reset(headers).status_code == 200
    service.advance("PT5M1S")
    check_refusal(each_member.reset(headers), "ResetLimitReached", 60)  # the second of the five


def test_one_member_s_resets_do_not_count_for_another(member: Member) -> None:
    other = new_member(member.service)
    member.reset()

    assert other.reset().status_code == 200
