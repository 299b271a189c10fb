"""Reports of service levels: made, read by whom they concern, proven offline, made again."""

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pypdf import PdfReader
from tests.http.health.level_world import AAS, CALLS, REPORTS, WINDOW, LevelWorld
from tests.support.forked_command import run_mudra
from tests.support.mailbox import mails
from tests.support.metrics.health_network import at_fip, requests_of
from tests.support.people.console import reader
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

from mudra.bootstrap.dependencies import Dependencies
from mudra.http.levels.signing import signing
from mudra.levels.budgets.budget_run import work_out_budgets
from mudra.levels.level_service import LevelService
from mudra.levels.monthly import make_all
from mudra.metrics.rollup.coverage import TimeRange
from mudra.tokens.signing_keys.node_keys import NodeKeys


def budgets_worked_out(service: Service) -> int:
    """The job, which runs once a day; returns how many alarms it sent."""
    return service.in_store(lambda parts: work_out_budgets(parts.transaction))


@pytest.fixture(scope="module")
def world(health_service: Service) -> LevelWorld:
    return LevelWorld(health_service)


def of(report: dict[str, Any], measure: str, api: str = "") -> dict[str, Any]:
    (found,) = [one for one in report["figures"] if (one["measure"], one["api"]) == (measure, api)]
    return dict(found)


def test_an_outage_counts_and_a_path_does_not(world: LevelWorld) -> None:
    windows = (world.end - world.start) // WINDOW

    report = world.read(world.make(world.fip)["reportId"]).json()["report"]

    up = of(report, "availability", "fireq")
    # Of each AA 100 calls in a window; those of the path's AA are left out while it was down.
    assert up["leftOut"] == 3 * CALLS
    assert up["whole"] == AAS * CALLS * windows - 3 * CALLS
    assert up["whole"] - up["part"] == 3 * AAS * 60
    assert (up["downWindows"], up["windows"]) == (3, windows)
    assert (up["reporters"], up["met"]) == (AAS, False)
    success = of(report, "success", "fireq")
    # One call in a hundred fails on good days as well: that is no outage, and no success.
    assert success["whole"] - success["part"] == 3 * AAS * 60 + (AAS * windows - 3 * AAS - 3)
    assert of(report, "availability", "cns")["met"] is True
    assert {one["fate"] for one in report["spans"]} == {"own", "elsewhere"}


def test_csv_has_the_numbers_of_the_json(world: LevelWorld) -> None:
    report_id = world.make(world.fip)["reportId"]

    report = world.read(report_id).json()["report"]
    header, *lines = world.read(report_id, format="csv").text.splitlines()

    names = header.split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    assert [(one["measure"], one["api"], one["part"], one["whole"]) for one in rows] == [
        (one["measure"], one["api"], str(one["part"]), str(one["whole"]))
        for one in report["figures"]
    ]


def test_the_pdf_has_the_numbers_of_the_json_in_the_language_that_is_asked_for(
    world: LevelWorld,
) -> None:
    report_id = world.make(world.fip)["reportId"]
    report = world.read(report_id).json()["report"]

    answer = world.read(report_id, format="pdf", language="hi")
    unknown = world.read(report_id, format="pdf", language="xx")

    assert answer.headers["content-type"] == "application/pdf"
    pages = PdfReader(io.BytesIO(answer.content)).pages
    text = " ".join(page.extract_text() for page in pages)
    up = of(report, "availability", "fireq")
    assert f"{int(up['value'] * 100) / 100:.2f} %" in text
    assert f"{up['whole']:,}" in text
    assert any("\u0900" <= one <= "\u097f" for one in text)
    assert unknown.status_code == 400
    assert unknown.json()["errorMsg"] == "language must be one of en, hi"


def test_a_further_version_is_made_only_where_a_number_differs_and_says_why(
    world: LevelWorld,
) -> None:
    bank, aa = world.network.fips[2].entity_id, world.network.aas[0]
    first, again = world.make(bank), world.make(bank)
    aa.push(requests_of(aa, world.start, [at_fip(bank, "cns", failing=0.5)], [bank], CALLS))

    second = world.make(bank)

    assert (again["reportId"], first["version"], second["version"]) == (first["reportId"], 1, 2)
    report = world.read(second["reportId"]).json()["report"]
    changed = {(one["measure"], one["api"], one["number"]): one for one in report["changes"]}
    part = changed["success", "cns", "part"]
    assert part["before"] - part["after"] == CALLS // 2 - 1
    assert not any(api in {"fif", "hbt"} for _, api, _ in changed)
    assert report["reasons"]
    shown = world.network.service.cli("report", "show", second["reportId"]).stdout
    _, later = shown.split("Changed since version 1:\n")
    rows = [line.split() for line in later.splitlines()]
    assert rows[0] == ["MEASURE", "API", "NUMBER", "BEFORE", "AFTER"]
    named = [f"{part[side]:,.4f}".rstrip("0").rstrip(".") for side in ("before", "after")]
    assert ["success", "cns", "part", *named] in rows
    assert f"because: {report['reasons'][0]}" in later
    assert (
        "Changed since" not in world.network.service.cli("report", "show", first["reportId"]).stdout
    )


def test_the_proof_is_checked_offline_and_any_changed_number_is_found(
    world: LevelWorld, tmp_path: Path
) -> None:
    proof = world.read(world.make(world.fip)["reportId"], "/proof").json()
    keys = world.network.noc.client.get("/.well-known/jwks.json")
    assert keys.status_code == 200, keys.text
    (tmp_path / "jwks.json").write_text(keys.text)

    def verify(changed: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        (tmp_path / "proof.json").write_text(json.dumps(changed))
        ended = run_mudra(
            *("report", "verify", str(tmp_path / "proof.json"), "--json"),
            *("--keys", str(tmp_path / "jwks.json")),
        )
        return ended.returncode, json.loads(ended.stdout)

    code, verdict = verify(proof)
    assert (code, verdict["valid"], verdict["faults"]) == (0, True, [])
    assert verdict["days"] >= 1
    report = json.loads(proof["report"])
    report["figures"][0]["part"] += 1
    code, verdict = verify({**proof, "report": json.dumps(report)})
    assert code == 1
    assert verdict["faults"][0] == "signature: the body was not signed by that key"
    assert "the report says part" in verdict["faults"][1]
    days = json.loads(json.dumps(proof["days"]))
    days[0]["counts"][1] += 1
    code, verdict = verify({**proof, "days": days})
    assert (code, len(verdict["faults"])) == (1, 1)


def test_a_member_reads_its_own_report_and_the_network_s_and_no_other(world: LevelWorld) -> None:
    network = world.make("")["reportId"]
    own, others = world.make(world.other.entity_id)["reportId"], world.make(world.fip)["reportId"]
    token = world.other.entity_token(world.other.secret()).json()["accessToken"]
    root, headers = world.network.service.root, {"Authorization": f"Bearer {token}"}
    path = f"{root}/metrics/perf/v1{REPORTS}"

    def get(tail: str) -> httpx2.Response:
        return world.other.client.get(f"{path}{tail}", headers=headers)

    listed = {one["reportId"] for one in get("").json()["reports"]}
    assert {network, own} <= listed
    assert others not in listed
    assert [get(f"/{one}").status_code for one in (network, own, others)] == [200, 200, 404]
    assert get(f"/{others}/proof").status_code == 404
    # How many calls each AA makes is not for others to see.
    peers = {one["peerId"] for one in get(f"/{network}/proof").json()["evidence"]["whole"]}
    assert peers == {""}
    made = world.other.client.post(path, json=world.period(), headers=headers)
    assert made.json()["report"]["reportId"] == own


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"entityId": "NO-SUCH"}, "only FIPs, AAs and the network"),
        ({"start": "2026-01-01T00:05:00Z"}, "must be full ten minutes"),
        ({"end": "2199-01-01T00:00:00Z"}, "not later than now"),
        ({"start": "2020-01-01T00:00:00Z"}, "at most 100 days"),
        ({"month": "2026-03"}, "give a month, such as 2026-03, or start and end"),
        ({"month": "2026-13"}, "month"),
    ],
)
def test_a_wrong_period_is_refused_with_the_way_out(
    world: LevelWorld, asked: dict[str, object], sentence: str
) -> None:
    answer = world.network.noc.post(REPORTS, **{**world.period(entityId=world.fip), **asked})

    assert answer.status_code in {400, 404}
    assert sentence in answer.json()["errorMsg"]


def test_a_target_holds_from_its_day_and_its_end_brings_the_shipped_one_back(
    world: LevelWorld,
) -> None:
    noc, today = world.network.noc, world.network.service.advance("PT0S").date().isoformat()
    asked = {"role": "FIP", "measure": "success", "api": "fif", "value": "97.5", "since": today}

    answer = noc.post("/levels/targets", **asked, reason="agreed")

    assert answer.status_code == 200, answer.text
    made = answer.json()["target"]
    in_force = noc.get("/levels/targets").json()["inForce"]
    assert made in in_force
    ended = noc.post(f"/levels/targets/{made['targetId']}/end")
    assert ended.json()["target"]["until"] == today
    assert made["targetId"] not in {
        one["targetId"] for one in noc.get("/levels/targets").json()["inForce"]
    }
    wrong = noc.post("/levels/targets", **{**asked, "value": "101"}, reason="x")
    assert (wrong.status_code, "at most 100 percent" in wrong.json()["errorMsg"]) == (400, True)


def test_a_budget_that_will_not_last_is_announced_once_and_not_during_a_silence(
    world: LevelWorld,
) -> None:
    service, noc, bank = world.network.service, world.network.noc, world.network.fips[0]
    while service.advance("PT0S") < world.end + timedelta(hours=1, minutes=10):
        service.advance("PT10M")
    ends = (service.advance("PT0S") + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    silence = noc.post("/health/silences", entityId=world.fip, ends=ends, reason="a planned test")
    assert silence.status_code == 200, silence.text

    def emails() -> list[dict[str, Any]]:
        return [one for one in mails(service, bank.email) if "error budget" in one["subject"]]

    with webhook_sink() as sink:
        noc.post("/health/webhooks", url=sink.url, entityId=world.fip)
        budgets_worked_out(service)
        in_silence = len(emails())
        noc.post(f"/health/silences/{silence.json()['silence']['silenceId']}/end")
        after, again = budgets_worked_out(service), budgets_worked_out(service)
        period = world.period(entityId=world.fip, start=(world.start + WINDOW).isoformat())
        assert noc.post(REPORTS, **period).status_code == 200
        service.wait_until(lambda: len(sink.posted) == 2)
        assert sorted(sink.events(world.fip)) == ["levels.budget", "levels.report"]

    (availability,) = [
        one["burn"]
        for one in noc.get("/levels/budgets", entityId=world.fip).json()["budgets"]
        if one["burn"]["measure"] == "availability"
    ]
    assert (in_silence, len(emails()), after, again) == (0, 1, 1, 0)
    # Of 99.5 % lost calls: 3 windows of 4 AAs with 60 of 100 failing.
    assert availability["spent"] == 3 * AAS * 60
    assert availability["outlook"] in {"burning", "gone"}
    assert availability["weekRate"] > 1
    token = bank.entity_token(bank.secret()).json()["accessToken"]
    own = bank.client.get(
        f"{service.root}/metrics/perf/v1/levels/budgets",
        headers={"Authorization": f"Bearer {token}"},
    ).json()["budgets"]
    assert {one["entityId"] for one in own} == {world.fip}
    assert f"{3 * AAS * 60} of" in emails()[0]["text"]
    board = noc.get("/board").json()["rows"]
    assert ("budget", world.fip) in {(one["kind"], one["entityId"]) for one in board}
    staff = reader(service)
    assert staff.sign_in(noc.email).status_code == 303
    page = staff.get("/console/operator/levels").text
    assert "Error budgets of this month" in page
    assert "used up" in page or "will not last" in page


def test_the_rule_of_the_network_decides_what_maintenance_counts_and_who_sees_the_league(
    world: LevelWorld,
) -> None:
    noc, bank = world.network.noc, world.network.fips[0]
    today = world.network.service.advance("PT0S").date().isoformat()
    token = bank.entity_token(bank.secret()).json()["accessToken"]
    address = f"{world.network.service.root}/metrics/perf/v1/levels/league?month=2026-01"

    def league() -> httpx2.Response:
        return bank.client.get(address, headers={"Authorization": f"Bearer {token}"})

    shipped = noc.get("/levels/rule").json()
    hidden = league()
    asked = {"since": today, "noticeHours": 48, "hoursAMonth": 12, "reason": "agreed"}
    made = noc.post("/levels/rule", **asked, league=True)
    wrong = noc.post("/levels/rule", **{**asked, "noticeHours": 721})

    assert shipped["inForce"]["noticeHours"] == 24
    assert (hidden.status_code, "no league table" in hidden.json()["errorMsg"]) == (404, True)
    assert made.status_code == 200, made.text
    assert noc.get("/levels/rule").json()["inForce"] == made.json()["rule"]
    assert league().json()["places"] == []
    assert wrong.status_code == 400
    assert "noticeHours" in wrong.json()["errorMsg"]
    kept = noc.post("/levels/rule", since=today, reason="fewer hours", hoursAMonth=6)
    assert kept.json()["rule"] == {**made.json()["rule"], "hoursAMonth": 6, "reason": "fewer hours"}
    typed = ("--since", today, "--reason", "as shipped", "--notice-hours", "24")
    by_command = world.network.service.cli("report", "set-rule", *typed, "--json").stdout
    assert json.loads(by_command) == [
        {**kept.json()["rule"], "noticeHours": 24, "reason": "as shipped"}
    ]
    back = noc.post("/levels/rule", **{**asked, "noticeHours": 24, "hoursAMonth": 24}, league=False)
    assert back.json()["rule"]["league"] is False


def test_operators_set_and_end_targets_on_the_page(world: LevelWorld) -> None:
    noc, service = world.network.noc, world.network.service
    staff, path = reader(service), "/console/operator/levels"
    assert staff.sign_in(noc.email).status_code == 303
    today = service.advance("PT0S").date().isoformat()
    typed = {"role": "FIP", "measure": "p95", "api": "fif", "since": today, "reason": "agreed"}

    wrong = staff.act(path, f"{path}/targets", **typed, value="0")
    made = staff.act(path, f"{path}/targets", **typed, value="7500")

    assert wrong.status_code == 400
    assert "at most 604,800,000 milliseconds" in wrong.text
    assert made.status_code == 303
    (target,) = [
        one
        for one in noc.get("/levels/targets").json()["inForce"]
        if (one["measure"], one["api"]) == ("p95", "fif")
    ]
    assert target["value"] == 7500
    assert staff.act(path, f"{path}/targets/{target['targetId']}/end").status_code == 303
    assert target not in noc.get("/levels/targets").json()["inForce"]


def test_the_job_makes_each_member_s_report_of_the_month_once(world: LevelWorld) -> None:
    service, made = world.network.service, list[int]()

    async def run(dependencies: Dependencies) -> int:
        keys = NodeKeys(
            *(dependencies.database, dependencies.invalidation, dependencies.clock), "JWT"
        )
        await keys.ready()
        async with dependencies.transaction() as tx:
            members = await tx.service(LevelService).reports.members(world.end)
        within = TimeRange(world.start, world.end - WINDOW)
        return await make_all(dependencies.transaction, signing(keys), within, members, world.end)

    bank = world.network.fips[0]
    wanted = bank.client.post(
        "/v1/user/alarm/preferences", json={"levelReports": True}, headers=bank.bearer()
    )
    assert wanted.json()["levelReports"] is True
    made += [service.in_store(run), service.in_store(run)]

    got = [one for one in mails(service, bank.email) if "service levels from" in one["subject"]]
    assert len(got) == 1
    assert "Missed targets: availability" in got[0]["text"]
    assert not [
        one for one in mails(service, world.other.email) if "service levels from" in one["subject"]
    ]

    listed = world.network.noc.get(REPORTS).json()["reports"]
    of_job = [one for one in listed if one["madeBy"] == "system"]
    own = {one.entity_id for one in world.network.fips} | {one.aa_id for one in world.network.aas}
    assert own | {""} <= {one["entityId"] for one in of_job}
    assert made == [len(of_job), 0]
    by_hand = world.network.noc.post(
        REPORTS,
        entityId=world.fip,
        start=world.start.isoformat(),
        end=(world.end - WINDOW).isoformat(),
    ).json()["report"]
    assert by_hand["reportId"] in {one["reportId"] for one in of_job}  # the same numbers
