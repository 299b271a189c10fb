"""Each number of each month's reports, of all members, is that of a recount of what was pushed.

One month here, in about 40 s of CPU; `python -m bench.level_year` plays a year.
"""

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.http.health.level_recount import Month, Numbers
from tests.http.health.level_year import DAY, INDIA, TEN, Happened, YearNetwork
from tests.http.health.service_in_process import service_in_process
from tests.support.forked_command import run_mudra
from tests.support.metrics.health_network import a_network
from tests.support.people.operators import with_token

from mudra.bootstrap.dependencies import Dependencies
from mudra.http.levels.signing import signing
from mudra.levels.monthly import make_last_month
from mudra.tokens.signing_keys.node_keys import NodeKeys

MONTHS = "MUDRA_TEST_MONTHS"
"""The variable by which bench/level_year asks for more of them."""
REPORTS = "/levels/reports"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[YearNetwork]:
    with service_in_process(tmp_path_factory.mktemp("year") / "data") as service:
        yield YearNetwork.of(a_network(service), 46)


def made_by_the_job(network: YearNetwork) -> int:
    async def run(parts: Dependencies) -> int:
        keys = NodeKeys(parts.database, parts.invalidation, parts.clock, "JWT")
        await keys.ready()
        return await make_last_month(parts.transaction, signing(keys))

    return network.service.in_store(run)


@pytest.mark.slow
def test_each_number_of_each_month_is_that_of_the_recount(
    network: YearNetwork, tmp_path: Path
) -> None:
    members = {one.entity_id for one in network.fips} | {one.aa_id for one in network.aas}
    for number in range(int(os.environ.get(MONTHS, "1"))):
        network.pass_month()
        month = month_of(network, first=number == 0)
        found_as_they_were(network, month)
        network.end_month()
        assert made_by_the_job(network) == len(members) + 1
        network.noc = with_token(network.service, network.noc.email)
        first = reports_of(network, month)
        assert {one["version"] for one in first.values()} == {1}
        equal(month, first)

        network.push_late()
        month.decided += disputes(network, month)
        network.service.advance("P1D")
        made = made_by_the_job(network)
        network.noc = with_token(network.service, network.noc.email)
        second = reports_of(network, month)
        equal(month, second)
        changed = [one for one in second if second[one]["figures"] != first[one]["figures"]]
        # All but two AAs, which neither reported late nor lied.
        assert made == len(changed) == len(members) + 1 - 2
        for entity_id in changed:
            changes_are_shown(first[entity_id], second[entity_id])
        for one in second.values():
            changed_numbers_are_found(network, tmp_path, one["reportId"])
        print(f"{month.start:%Y-%m}: {len(second)} reports in two versions equal", flush=True)


def month_of(network: YearNetwork, *, first: bool) -> Month:
    assert network.reported_to is not None
    local = network.reported_to.astimezone(INDIA)
    start = local.replace(day=1, hour=0, minute=0)
    end = (start + 32 * DAY).replace(day=1)
    since = min(at for _, _, at in network.pushed) if first else start
    return Month(network, start, end, 2 * int((end - since) / TEN), [])


def found_as_they_were(network: YearNetwork, month: Month) -> None:
    """The service found what happened, where and when it was."""
    found = {
        (one["kind"], one["entityId"], one["peerId"], one["type"], one["began"], one["lastBad"])
        for one in network.incidents()
        if datetime.fromisoformat(one["began"]) >= month.start and one["kind"] != "aa-reporting"
    }
    known = {
        ({"aa": "aa-calls"}.get(one.kind, one.kind), *_ends(one), one.api,
         one.begin, one.end - TEN)
        for one in month.events() if one.kind != "maintenance"
    }  # fmt: skip
    times = {(*one[:4], *map(datetime.fromisoformat, one[4:])) for one in found}
    assert times == known


def _ends(one: Happened) -> tuple[str, str]:
    return (one.aa or one.fip, one.fip if one.aa else "")


def reports_of(network: YearNetwork, month: Month) -> dict[str, dict[str, Any]]:
    """The latest version of each member and of the network."""
    found: dict[str, dict[str, Any]] = {}
    for one in network.noc.get(REPORTS).json()["reports"]:
        if datetime.fromisoformat(one["start"]) == month.start:
            found.setdefault(one["entityId"], one)
    return {
        entity_id: network.noc.get(f"{REPORTS}/{one['reportId']}").json()["report"] | one
        for entity_id, one in found.items()
    }


def equal(month: Month, reports: dict[str, dict[str, Any]]) -> None:
    network = month.network
    recounted: dict[str, Numbers] = {"": month.of_network()}
    recounted |= {one.entity_id: month.of_fip(one.entity_id) for one in network.fips}
    recounted |= {one.aa_id: month.of_aa(one.aa_id) for one in network.aas}
    assert reports.keys() == recounted.keys()
    for entity_id, known in recounted.items():
        figures = {(one.pop("measure"), one.pop("api")): one
                   for one in json.loads(json.dumps(reports[entity_id]["figures"]))}  # fmt: skip
        assert figures == known, entity_id


def disputes(network: YearNetwork, month: Month) -> list[Happened]:
    """One is accepted for a part, one wholly; what was decided."""
    outage = next(one for one in month.events() if one.kind == "fip-api")
    noon = outage.begin.astimezone(INDIA)
    start = noon.replace(hour=0, minute=0)
    part = {"start": outage.begin.isoformat(), "end": outage.end.isoformat(), "apis": ["fireq"]}
    decide(network, 0, {"about": "day", "day": f"{noon:%Y-%m-%d}"},
           act="accept_partly", effect="not_against_member", **part)  # fmt: skip
    line = {"about": "line", "firstDay": f"{noon:%Y-%m-%d}", "lastDay": f"{noon:%Y-%m-%d}"}
    decide(network, 3, {**line, "api": "cns"}, act="accept", effect="left_out")
    fips = [one.entity_id for one in network.fips]
    return [
        Happened("excused", outage.begin, outage.end, fip=fips[0], api="fireq"),
        Happened("left_out", start, start + DAY, fip=fips[3], api="cns"),
    ]


def decide(network: YearNetwork, fip: int, about: dict[str, str], **decision: object) -> None:
    bank = network.fips[fip]
    sent = {"entityId": bank.entity_id, "text": "Our gateway answered all calls.", **about}
    raised = bank.client.post("/v1/entity/disputes", json=sent, headers=bank.sign_in())
    assert raised.status_code == 200, raised.text
    which = raised.json()["dispute"]["disputeId"]
    decided = network.noc.post(f"/disputes/{which}/steps", text="It did.", **decision)
    assert decided.status_code == 200, decided.text


def changes_are_shown(first: dict[str, Any], second: dict[str, Any]) -> None:
    """The second version says of each number that changed what it was and what it is."""
    assert second["version"] == 2
    before, after = (
        {(one["measure"], one["api"]): one for one in each["figures"]} for each in (first, second)
    )
    known = {
        (*key, name, before[key][name], after[key][name])
        for key in after
        for name in ("value", "part", "whole", "target")
        if before[key][name] != after[key][name]
    }
    names = ("measure", "api", "number", "before", "after")
    assert {tuple(one[name] for name in names) for one in second["changes"]} == known
    assert second["reasons"]


def changed_numbers_are_found(network: YearNetwork, folder: Path, report_id: str) -> None:
    proof = network.noc.get(f"{REPORTS}/{report_id}/proof").json()
    keys = network.noc.client.get("/.well-known/jwks.json")
    (folder / "jwks.json").write_text(keys.text)

    def verified(changed: dict[str, Any]) -> list[str]:
        (folder / "proof.json").write_text(json.dumps(changed))
        ended = run_mudra(
            *("report", "verify", str(folder / "proof.json"), "--json"),
            *("--keys", str(folder / "jwks.json")),
        )
        faults: list[str] = json.loads(ended.stdout)["faults"]
        assert (ended.returncode == 0) is (not faults)
        return faults

    assert verified(proof) == []
    report = json.loads(proof["report"])
    figure = network.dice.choice(report["figures"])
    names = [name for name, one in figure.items() if type(one) in {int, float}]
    figure[network.dice.choice(names)] += 1
    faults = verified({**proof, "report": json.dumps(report)})
    # The signature shows it, and without it the recount of the evidence does.
    assert faults[0].startswith("signature")
    assert any(one.startswith(f"{figure['measure']} of ") for one in faults)
