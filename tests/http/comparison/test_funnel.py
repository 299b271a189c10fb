"""The consent and data funnel, equal to a recount by plain loops: API, command and pages."""

import csv
import io
import json
import shlex
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.http.comparison.conftest import Weeks
from tests.support.documents.blocks import blocks_of

STEPS = {
    "discovery": "adisc",
    "linking": "alink",
    "confirm_linking": "alinkv",
    "consent": "cns",
    "fi_request": "fireq",
    "fi_fetch": "fif",
}
ORDER = [*[*STEPS][:5], "data_ready", "fi_fetch"]


def truth(weeks: Weeks, **where: object) -> dict[str, list[int]]:
    """Begun, done, 404, other 4xx, failed and unanswered of each step."""
    found = {}
    for step, code in STEPS.items():
        counts = weeks.counted(code, **where)
        client, server = sum(counts[2:10]) - counts[5], sum(counts[10:])
        found[step] = [
            counts[0], counts[1], counts[5], client, server, counts[0] - sum(counts[1:]),
        ]  # fmt: skip
    ready, failed = (weeks.counted(code, **where)[0] for code in ("sfireqnot", "ffireqnot"))
    found["data_ready"] = [ready + failed, ready, 0, 0, failed, 0]
    return {step: found[step] for step in ORDER}


def said(funnel: dict[str, Any]) -> dict[str, list[int]]:
    names = ("begun", "done", "notFound404", "other4xx", "failed", "noAnswer")
    return {one["step"]: [one[name] for name in names] for one in funnel["steps"]}


def all_time(weeks: Weeks) -> dict[str, str]:
    first = weeks.windows[0] - timedelta(days=1)
    return {"from": first.isoformat(), "to": (first + timedelta(days=40)).isoformat()}


def asked(weeks: Weeks, by: str, **query: str) -> list[dict[str, Any]]:
    answer = weeks.noc.get(f"/funnel/{by}", **{**all_time(weeks), **query})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["funnels"]
    return found


def test_the_funnel_of_the_network_is_what_was_reported(weeks: Weeks) -> None:
    (found,) = asked(weeks, "network")
    wanted = truth(weeks)

    assert said(found) == wanted
    assert found["undecided"] == wanted["fi_request"][1] - wanted["data_ready"][0]
    names = ("succeeded", "failed", "ready", "denied", "delivered", "timeout", "pending")
    assert [found["fiRequests"][name] for name in names] == weeks.outcomes()
    for before, step in zip([None, *found["steps"]], found["steps"], strict=False):
        assert step["doneShare"] == pytest.approx(step["done"] / step["begun"])
        ratio = before and step["begun"] / before["done"]
        assert step["perDoneBefore"] == (ratio and pytest.approx(ratio))
    lost = {step: (one[0] - one[1] - one[2]) / one[0] for step, one in wanted.items()}
    assert found["leak"] == max(lost, key=lambda step: lost[step])


@pytest.mark.parametrize("by", ["fips", "aas", "pairs"])
def test_each_subject_has_its_own(weeks: Weeks, by: str) -> None:
    fip, aa = weeks.fips[2].entity_id, weeks.aas[1].aa_id
    found = asked(weeks, by, **({"fipId": fip} if by == "pairs" else {}))

    of = {(one["aaId"], one["fipId"]): one for one in found}
    assert len(of) == len(found) == 6
    wanted = {"fips": ("", fip), "aas": (aa, ""), "pairs": (aa, fip)}[by]
    assert said(of[wanted]) == truth(weeks, aa=wanted[0], fip=wanted[1])


def test_weeks_are_those_of_utc_and_add_up_to_the_whole(weeks: Weeks) -> None:
    found = asked(weeks, "weeks", aaId=weeks.aas[0].aa_id)

    starts = [datetime.fromisoformat(one["from"]) for one in found]
    assert all(at.weekday() == 0 and at.hour == 0 for at in starts[1:])
    for one in found:
        start, end = (datetime.fromisoformat(one[name]) for name in ("from", "to"))
        assert said(one) == truth(weeks, aa=weeks.aas[0].aa_id, start=start, end=end)
    assert (
        sum(one["steps"][0]["begun"] for one in found)
        == (weeks.counted("adisc", aa=weeks.aas[0].aa_id)[0])
    )


def test_pairs_are_of_the_whole_network_where_they_are_few(weeks: Weeks) -> None:
    found = asked(weeks, "pairs")

    assert len(found) == 36
    total = sum(one["steps"][3]["begun"] for one in found)
    assert total == weeks.counted("cns")[0]


def test_a_member_has_its_own_and_no_one_elses(weeks: Weeks) -> None:
    aa = weeks.aas[3]
    address = f"{weeks.service.root}/metrics/perf/v1/funnel"

    def own(by: str) -> list[dict[str, Any]]:
        answer = aa.client.get(f"{address}/{by}", params=all_time(weeks), headers=aa.bearer)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["funnels"]
        return found

    (whole,) = own("all")
    pairs = own("counterparts")

    assert said(whole) == truth(weeks, aa=aa.aa_id)
    assert {one["aaId"] for one in pairs} == {aa.aa_id}
    assert [said(one) for one in pairs] == [
        truth(weeks, aa=aa.aa_id, fip=fip) for fip in sorted(one.entity_id for one in weeks.fips)
    ]


def test_csv_and_command_say_the_same(weeks: Weeks) -> None:
    answer = weeks.noc.get("/funnel/fips", **all_time(weeks), format="csv")
    rows = [*csv.DictReader(io.StringIO(answer.text))]
    fip = weeks.fips[0].entity_id
    mine = {one["step"]: one for one in rows if one["fipId"] == fip}

    assert {step: int(mine[step]["begun"]) for step in ORDER} == {
        step: one[0] for step, one in truth(weeks, fip=fip).items()
    }
    times = all_time(weeks)
    done = weeks.service.cli(
        *("health", "funnel", "fips", "--from", times["from"], "--to", times["to"], "--json")
    )
    (of_command,) = [one for one in json.loads(done.stdout)["funnels"] if one["fipId"] == fip]
    assert said(of_command) == truth(weeks, fip=fip)


def test_the_commands_of_the_guide_are_answered(weeks: Weeks) -> None:
    fip = weeks.fips[0].entity_id
    blocks = [one for one in blocks_of("docs/how-to/read-the-funnel.md") if one.kind == "sh"]
    lines = [line for one in blocks for line in one.body.splitlines()]
    assert len(lines) == 6

    for line in lines:
        words = shlex.split(line.replace("KAVERI-FIP", fip), comments=True)
        assert weeks.service.cli(*words[1:]).stdout, line
