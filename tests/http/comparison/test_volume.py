"""The volume of calls by hour and day, and its forecast, equal to a recount: API and command."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest
from tests.http.comparison.conftest import forward
from tests.http.comparison.daily_calls import DAY, Calls, report_idle_windows
from tests.http.health.service_in_process import service_in_process
from tests.support.members import new_member
from tests.support.metrics.health_network import reporting
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD

WEEKS = 6
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calls]:
    with service_in_process(tmp_path_factory.mktemp("volume") / "data") as service:
        gateway, bank = new_member(service, "AA"), new_member(service, "FIP")
        found = Calls(new_operator(service, "health"), gateway, reporting(gateway), bank.entity_id)
        dice = random.Random(5)
        for week in range(WEEKS):
            found.report_week(lambda window: 100 + 20 * window.weekday() + dice.randint(0, 9))
            forward(service, "P7D" if week < WEEKS - 1 else "P1D")
        yield found


def by_day(calls: dict[datetime, int]) -> Counter[str]:
    found = Counter[str]()
    for window, number in calls.items():
        found[window.date().isoformat()] += number
    return found


def test_days_and_hours_are_what_was_reported(reported: Calls) -> None:
    found = reported.asked()
    wanted = by_day(reported.calls)

    days = {one["day"]: one["calls"] for one in found["days"]}
    assert len(days) == 16 * 7
    assert {day: calls for day, calls in days.items() if calls} == {
        day: calls for day, calls in wanted.items() if day in days
    }
    hours = {one["start"]: one for one in found["hours"]}
    assert len(hours) == 24
    at = reported.aa.now()
    for start, one in hours.items():
        begins = datetime.fromisoformat(start)
        earlier = [
            sum(
                calls
                for window, calls in reported.calls.items()
                if begins - back * 7 * DAY <= window < begins - back * 7 * DAY + timedelta(hours=1)
            )
            for back in range(5)
        ]
        known = [calls for calls in earlier[1:] if calls]
        assert begins < at
        assert one["calls"] == (earlier[0] or None)
        assert one["weekBefore"] == (earlier[1] or None)
        assert one["usual"] == (round(sum(known) / len(known)) if known else None)
    assert any(one["weekBefore"] for one in hours.values())


def test_a_forecast_is_made_of_days_that_have_their_reports(reported: Calls) -> None:
    """Until the idle windows are reported, each day lacks 143 of 144: no forecast is made."""
    before = reported.asked(fipId=reported.fip_id)
    report_idle_windows(reported)
    found = reported.asked(fipId=reported.fip_id)

    assert not any(one["complete"] for one in before["days"])
    assert (before["forecast"], before["notice"]) == (None, None)
    assert before["growth"] == {"calls": None, "ofWeekBefore": None, "ofFourBefore": None}
    known = {date.fromisoformat(one["day"]): one["calls"] for one in found["days"]}
    known = {
        day: calls
        for day, calls in known.items()
        if next(one["complete"] for one in found["days"] if one["day"] == day.isoformat())
    }
    first = max(known) + DAY
    assert first.weekday() == 0
    assert len(known) >= 28
    forecast = found["forecast"]
    for error in forecast["errors"]:
        off = came = 0
        for back in range(1, 29):
            day = first - back * DAY
            other = day - error["weeksAhead"] * 7 * DAY
            if day in known and other in known:
                off, came = off + abs(known[day] - known[other]), came + known[day]
        assert error["naiveWape"] == pytest.approx(off / came)
        assert error["days"] >= 14
    assert forecast["method"] == "mean_of_weekdays"
    for one in forecast["days"]:
        day = date.fromisoformat(one["day"])
        ahead = (day - first).days // 7 + 1
        same = [known[at] for back in range(4) if (at := day - (ahead + back) * 7 * DAY) in known]
        assert one["calls"] == round(sum(same) / len(same))
        assert one["low"] <= one["calls"] <= one["high"]
    week = [known[first - back * DAY] for back in range(1, 8)]
    earlier = [known[first - back * DAY] for back in range(8, 15)]
    assert found["growth"]["calls"] == sum(week)
    assert found["growth"]["ofWeekBefore"] == pytest.approx(sum(week) / sum(earlier))


def test_command_and_member_have_the_same(reported: Calls) -> None:
    service, aa = reported.aa.service, reported.aa
    done = service.cli("health", "volume", "--aa", aa.aa_id, "--json")
    address = f"{service.root}/metrics/perf/v1/volume"
    own = aa.client.get(address, headers=reported.renewed().bearer)

    assert json.loads(done.stdout)["days"] == reported.asked(aaId=aa.aa_id)["days"]
    assert own.json()["days"] == reported.asked(aaId=aa.aa_id)["days"]
    assert date.fromisoformat(own.json()["days"][0]["day"]).weekday() == 0


def test_the_pages_show_hours_days_and_what_is_expected(reported: Calls) -> None:
    service = reported.aa.service
    for email, path in (
        (reported.noc.email, "/console/operator/volume"),
        (reported.gateway.email, f"/console/entity/{reported.gateway.entity_id}/volume"),
    ):
        browser = reader(service)
        assert browser.sign_in(email, PASSWORD).status_code == 303
        shown = browser.get(path)
        assert shown.status_code == 200
        assert "That went wrong" not in shown.text
        by_hour, by_day = re.findall(r'<svg class="bars volume".*?</svg>', shown.text, re.DOTALL)
        known = reported.asked()
        assert by_hour.count("<rect") == sum(bool(one["calls"]) for one in known["hours"])
        assert by_day.count('"known"') + by_day.count('"gap"') == sum(
            bool(one["calls"]) for one in known["days"]
        )
        last_day = sum(one["calls"] or 0 for one in known["hours"])
        assert f'<strong class="large">{last_day:,}</strong>' in shown.text
        unreported = re.search(r'<path class="unreported" d="([^"]*)"', by_hour)
        places = {*re.findall(r"M(\d+) ", unreported[1])} if unreported else set[str]()
        assert len(places) == sum(one["calls"] is None for one in known["hours"])
        until = max(datetime.fromisoformat(one["start"]) for one in known["hours"]) + HOUR
        assert re.search(rf"24 hours up to <time datetime=\"{until:%Y-%m-%dT%H:%M:%SZ}", shown.text)
        assert "in the 24 hours before" not in shown.text  # an hour of them was not reported
        assert "Dotted: a week before." in shown.text
        exported = browser.get(f"{path}?export=hours").text
        assert exported.count("\n") == 25


def test_without_a_day_with_calls_there_is_a_sentence_and_no_chart_of_days(
    reported: Calls,
) -> None:
    new = new_member(reported.aa.service, "FIP")
    browser = reader(reported.aa.service)
    assert browser.sign_in(new.email, PASSWORD).status_code == 303

    shown = browser.get(f"/console/entity/{new.entity_id}/volume").text

    assert shown.count('<svg class="bars volume"') == 1
    assert "Days are drawn in whole weeks" in shown
    assert '<strong class="large">0</strong>' in shown
    assert "Hatched: an hour without reported calls." in shown
