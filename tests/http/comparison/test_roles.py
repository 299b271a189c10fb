"""Members next to the quartiles of their role: recounted, the same for all, hidden where few."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.http.comparison.conftest import Weeks
from tests.http.comparison.test_funnel import STEPS, truth

WEEK = timedelta(days=7)


def own(weeks: Weeks, place: int, **query: str) -> Any:
    """What a member is answered: FIPs, then AAs."""
    aa = weeks.aas[place]
    address = f"{weeks.service.root}/metrics/perf/v1/comparison"
    return aa.client.get(address, params=query, headers=aa.bearer)


def week_of(weeks: Weeks) -> tuple[str, datetime]:
    """The name and start of the week in which the last window was reported."""
    day = weeks.windows[-1].replace(hour=0, minute=0)
    start = day - timedelta(days=day.weekday())
    year, week, _ = start.isocalendar()
    return f"{year}-W{week:02}", start


def by_measure(answer: Any, measure: str) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return {one["step"]: one for one in answer.json()["measures"] if one["measure"] == measure}


def test_shares_are_quartiles_of_a_recount(weeks: Weeks) -> None:
    name, start = week_of(weeks)
    found = by_measure(own(weeks, 0, week=name), "done_share")

    for step in [*STEPS, "data_ready"]:
        shares = {}
        for aa in weeks.aas:
            begun, done, *_ = truth(weeks, aa=aa.aa_id, start=start, end=start + WEEK)[step]
            shares[aa.aa_id] = done / begun
        ordered = sorted(shares.values())
        assert found[step]["mine"] == pytest.approx(shares[weeks.aas[0].aa_id])
        assert found[step]["quartiles"] == {
            "low": round(sum(ordered[:3]) / 3, 2),
            "median": round(sum(ordered[1:5]) / 4, 2),
            "high": round(sum(ordered[3:]) / 3, 2),
        }
        assert found[step]["group"] == "6 to 9"


def test_times_are_those_of_the_health_of_the_same_week(weeks: Weeks) -> None:
    name, start = week_of(weeks)
    within = {"from": start.isoformat(), "to": (start + WEEK).isoformat()}
    rows = weeks.noc.get("/health/fips", **within).json()["rows"]
    answer = weeks.noc.get("/comparison/FIP", week=name)
    found = by_measure(answer, "p95_ms")

    for step, code in {**STEPS, "data_ready": "sfireqnot"}.items():
        times = sorted(
            api["time"]["p95"]["estimate"]
            for row in rows
            for api in row["apis"]
            if (api["tag"], api["type"]) == ("req-fipMetrics-aa", code)
        )
        assert len(times) == 6
        low = sum(times[:3]) / 3
        assert found[step]["quartiles"]["low"] == float(f"{low:.1e}")
        assert found[step]["mine"] is None


def test_all_who_ask_see_the_same_of_the_others(weeks: Weeks) -> None:
    """So no two answers have a difference; and where each is, is read off them and its own."""
    name, _ = week_of(weeks)
    seen = []
    for place in range(len(weeks.aas)):
        answer = own(weeks, place, week=name).json()
        for one in answer["measures"]:
            mine, place_, quartiles = one.pop("mine"), one.pop("place"), one["quartiles"]
            if one["measure"] == "done_share":
                assert (place_ == "best_quarter") == (mine >= quartiles["high"])
                assert (place_ == "worst_quarter") == (mine < quartiles["low"])
        seen.append(answer["measures"])

    assert all(one == seen[0] for one in seen)
    assert not any(aa.aa_id in str(seen) for aa in weeks.aas)


def test_a_week_that_a_late_report_may_change_is_refused(weeks: Weeks) -> None:
    now = weeks.aas[0].now()
    refused = own(weeks, 0, week=f"{now:%G-W%V}")
    usual = own(weeks, 0).json()

    assert refused.status_code == 400
    assert f"week must be {usual['week']} or an earlier one" in refused.json()["errorMsg"]
    end = datetime.fromisoformat(usual["to"])
    assert timedelta(days=8) <= now - end < timedelta(days=15)


def test_a_step_with_few_members_is_hidden_from_all(weeks: Weeks) -> None:
    """No one reported a call of the week before the first."""
    first = weeks.windows[0] - timedelta(days=21)
    answer = own(weeks, 0, week=f"{first:%G-W%V}")

    by_command = weeks.service.cli("health", "compare", "AA", "--week", f"{first:%G-W%V}").stdout
    assert by_command.count("hidden") == 3 * len(answer.json()["measures"])
    for one in answer.json()["measures"]:
        assert (one["quartiles"], one["place"], one["mine"]) == (None, None, None)
        assert one["group"] == "fewer than 6"
