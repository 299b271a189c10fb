"""The operator's own calls: board, approvals, keys, settings, operators, the audit's proof."""

import json
from collections.abc import Iterator

import httpx2
import pytest
import sqlalchemy as sa
from tests.support.database.held_lock import held_until_waited_for
from tests.support.mailbox import mails
from tests.support.members import Member, new_member, onboard
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.tokens import key_fetch

SCOPES = ("members", "registry", "health", "keys", "audit")
CALLS = {
    ("GET", "/registry/waiting"): {"registry"},
    ("GET", "/registry/vocabulary"): {"registry"},
    ("GET", "/registry/entries/NO-SUCH"): {"registry"},
    ("POST", "/registry/entries/NO-SUCH/decide"): {"registry"},
    ("GET", "/members/NO-SUCH/tokens"): {"members"},
    ("GET", "/keys"): {"keys"},
    ("POST", "/keys/rotate"): {"keys"},
    ("POST", "/audit/verify"): {"audit"},
    ("POST", "/operators"): {"members"},
    ("GET", "/board"): set(SCOPES),
    ("GET", "/settings"): set(SCOPES),
}


@pytest.fixture(scope="module")
def operators(service: Service) -> dict[str, Operator]:
    """One operator for each scope, and one for all."""
    return {scope: new_operator(service, scope) for scope in SCOPES} | {
        "all": new_operator(service, *SCOPES)
    }


@pytest.fixture
def boss(operators: dict[str, Operator]) -> Operator:
    return operators["all"]


@pytest.fixture(scope="module")
def admin(service: Service) -> Member:
    return new_member(service)


@pytest.mark.parametrize(("method", "path"), sorted(CALLS), ids=str)
def test_only_the_scope_opens_a_call(
    operators: dict[str, Operator], admin: Member, method: str, path: str
) -> None:
    """X1 for these routes: no one, a member's admin, an operator of each scope."""
    url = f"{admin.service.root}/operator/v1{path}"

    def status(headers: dict[str, str]) -> int:
        body = {} if method == "POST" else None  # refused as incomplete by anyone who may call
        if path == "/keys/rotate":
            body = {"kind": "neither"}
        return admin.client.request(
            method, url, json=body, headers=headers, timeout=PATIENCE_S
        ).status_code

    assert status({}) == 401
    assert status(admin.bearer()) == 401
    for scope in SCOPES:
        expected = {200, 400, 404} if scope in CALLS[method, path] else {401}
        assert status(operators[scope].headers) in expected, scope


def test_an_operator_compares_an_update_and_approves_it(service: Service, boss: Operator) -> None:
    member = new_member(service)
    made = payload(member)
    send(member, made)
    assert decide(boss, member, act="approve", version=1).json()["status"] == "live"
    made["entityinfo"]["baseurl"] = "v2:https://moved.example/v2"
    send(member, made, update=True)

    (row,) = [
        one
        for one in boss.get("/registry/waiting").json()["waiting"]
        if one["entityId"] == member.entity_id
    ]
    changed = {change["path"]: change for change in row["changes"]}

    assert (row["version"], row["first"]) == (2, False)
    assert row["risks"] == ["Calls go to another address"]
    assert changed["$.entityinfo.baseurl"]["after"] == "v2:https://moved.example/v2"
    assert changed["$.entityinfo.baseurl"]["needsApproval"] is True
    stale = decide(boss, member, act="approve", version=1)
    assert (stale.status_code, stale.json()["errorCode"]) == (409, "Conflict")
    assert decide(boss, member, act="approve", version=2).json()["standing"] == "live"
    history = boss.get(f"/registry/entries/{member.entity_id}").json()
    assert [one["status"] for one in history["versions"]] == ["superseded", "live"]
    assert history["versions"][1]["decidedBy"] == f"operator:{boss.email}"


def decide(operator: Operator, member: Member, **members: object) -> httpx2.Response:
    return operator.post(f"/registry/entries/{member.entity_id}/decide", **members)


def test_a_rejection_needs_a_reason_and_a_go_live_a_real_time(
    service: Service, boss: Operator
) -> None:
    member = new_member(service)
    send(member, payload(member))

    assert decide(boss, member, act="reject").status_code == 400
    wrong = decide(boss, member, act="approve", version=1, goesLiveAt="2026-02-30T00:00:00Z")
    assert wrong.status_code == 400
    assert "goesLiveAt" in wrong.json()["errorMsg"]
    rejected = decide(boss, member, act="reject", reason="the certificate is another bank's")
    assert rejected.json()["status"] == "rejected"


def test_a_fetch_of_the_keys_is_counted_for_the_member_that_registered_the_address(
    service: Service, boss: Operator
) -> None:
    """K2: an operator sees who has fetched the next key before it signs."""
    member = new_member(service)
    own = member.client._transport._pool._local_address  # type: ignore[attr-defined]
    send(member, payload(member, ips=[own]))
    assert decide(boss, member, act="approve", version=1).status_code == 200

    for _ in range(3):
        assert member.client.get("/.well-known/jwks.json").status_code == 200

    def counts() -> set[int]:
        return {
            fetch["count"]
            for key in boss.get("/keys").json()["keys"]
            for fetch in key["fetches"]
            if fetch["entityId"] == member.entity_id
        }

    async def written(dependencies: Dependencies) -> object:
        async with dependencies.database.transaction() as transaction:
            mine = key_fetch.c.entity_id == member.entity_id
            counted = sa.select(sa.func.max(key_fetch.c.count)).where(mine)
            return await transaction.connection.scalar(counted)

    # The page of all keys takes more to ask for, and comes once it is so.
    service.wait_until(lambda: service.in_store(written) == 3)
    assert counts() == {3}
    assert "active" in {key["state"] for key in boss.get("/keys").json()["keys"]}


def test_tokens_are_counted_by_day(service: Service, boss: Operator) -> None:
    member = new_member(service)
    secret = member.secret()
    for _ in range(3):
        assert member.entity_token(secret).status_code == 200

    def days() -> list[dict[str, object]]:
        found: list[dict[str, object]] = boss.get(f"/members/{member.entity_id}/tokens").json()[
            "days"
        ]
        return found

    service.wait_until(lambda: [one["count"] for one in days()] == [3])
    printed = service.cli("member", "tokens", member.entity_id, "--json").stdout
    assert json.loads(printed) == days()
    path = f"/members/{member.entity_id}/tokens"
    assert boss.get(path, days="1").json()["days"] == days()
    service.advance("P1D")
    assert boss.get(path, days="1").json()["days"] == []
    assert boss.get(path, days="2").json()["days"] == days()
    assert boss.get(path, days="0").json()["errorMsg"].startswith("days must be a whole number")
    assert boss.get(path, days="367").status_code == 400


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose clock no one has moved, and that has no other members."""
    folder = tmp_path_factory.mktemp("untouched") / "data"
    with running_service(folder, keeps_store=True) as running:
        yield running


def test_a_rotation_appoints_the_next_key_and_leaves_a_trace(untouched: Service) -> None:
    boss = new_operator(untouched, "keys", "audit")
    # As when the job that makes keys is at it, which takes seconds on a slow machine.
    with held_until_waited_for(untouched.data_dir, str(0x6D75647261 + 1)):
        rotation_leaves_a_trace(boss)


def rotation_leaves_a_trace(boss: Operator) -> None:
    done = boss.post("/keys/rotate", kind="entity").json()["changes"]

    assert "keys:signing:activate" in {change["event"] for change in done}
    assert boss.post("/keys/rotate", kind="entity").json()["changes"] == []
    (event, *_) = boss.get("/audit", event="keys:signing:activate", limit="1").json()["events"]
    assert event["actor"] == f"operator:{boss.email}"


def test_settings_are_shown_with_their_source_and_no_secret(
    service: Service, boss: Operator
) -> None:
    settings = {one["name"]: one for one in boss.get("/settings").json()["settings"]}
    by_command = {
        one["name"]: one for one in json.loads(service.cli("config", "show", "--json").stdout)
    }

    assert settings["MUDRA_SANDBOX"]["source"] == "command line"
    assert settings["MUDRA_DATA_DIR"]["source"] == "environment"
    assert settings["MUDRA_TOKEN_TYP"]["source"] == "default"
    assert set(by_command) == set(settings)
    with_mail = {"MUDRA_SMTP_URL": "smtp://mail:hidden-word@mail.example:587"}
    service.environment.update(with_mail)
    shown = service.cli("config", "show", "--json").stdout
    for name in with_mail:
        del service.environment[name]
    assert "hidden-word" not in shown
    assert '"set"' in shown


def test_the_board_names_what_breaks_with_the_next_act(untouched: Service) -> None:
    """Of a kind the board has 200 rows, and other tests' members expire as well."""
    service, boss = untouched, new_operator(untouched)
    invited, _ = onboard(service)
    member = new_member(service)
    reset = member.reset(secretExpiryDays=3)
    assert reset.status_code == 200, reset.text
    send(member, payload(member))

    rows = boss.get("/board").json()["rows"]
    mine = {row["kind"]: row for row in rows if row["entityId"] == member.entity_id}

    assert mine["secret"]["nextAct"] == "Ask its admin to reset it"
    assert mine["approval"]["urgency"] == "waits"
    assert "no-admin" in {row["kind"] for row in rows if row["entityId"] == invited}
    by_command = json.loads(service.cli("board", "--json").stdout)
    assert {row["subject"] for row in rows} <= {row["subject"] for row in by_command}


def test_a_scope_shows_its_own_rows_of_the_board_only(
    service: Service, operators: dict[str, Operator]
) -> None:
    onboard(service)
    answer = operators["health"].get("/board").json()

    assert {row["kind"] for row in answer["rows"]} <= {
        *("silent-aa", "incident", "held-report", "budget", "dispute"),
        *("subscriptions", "webhook"),
    }
    assert set(answer["hidden"]) == {"secret", "approval", "mail", "no-admin", "weak-key"}


def test_no_one_gives_a_scope_that_he_does_not_hold(
    service: Service, operators: dict[str, Operator]
) -> None:
    """X3: what is given or taken holds from the next request."""
    members, boss, noc = operators["members"], operators["all"], new_operator(service, "health")
    assert members.post("/operators", email=noc.email, scopes=["health", "keys"]).status_code == 409
    assert members.post("/operators", email=noc.email, scopes=[]).status_code == 409
    assert boss.post("/operators", email=boss.email, scopes=["members"]).status_code == 409

    given = boss.post("/operators", email=noc.email, scopes=["audit", "keys"])
    assert given.json()["scopes"] == ["audit", "keys"], given.text
    assert noc.get("/keys").status_code == 200
    boss.post("/operators", email=noc.email, scopes=[])
    assert noc.get("/keys").status_code == 401
    made = boss.post("/operators", email=f"new-{noc.email}", scopes=["health"], name="Night desk")
    assert made.json()["invited"] is True
    assert mails(service, f"new-{noc.email}")


def test_the_audit_is_verified_over_http(service: Service, boss: Operator) -> None:
    """L4 over HTTP: the verdict counts the sealed rows, and the check itself is audited."""

    def verify() -> dict[str, object]:
        found: dict[str, object] = boss.post("/audit/verify").json()
        return found

    service.advance("PT1S")  # wakes the sealer
    # Other tests move the clock by months: until the sealer comes, it is months late.
    service.wait_until(
        lambda: verify()["intact"] is True and int(str(verify()["rows"])) > 0, show=verify
    )

    answer = verify()

    assert (answer["intact"], answer["problem"]) == (True, "")
    (event, *_) = boss.get("/audit", event="audit:chain:verify").json()["events"]
    assert event["actor"] == f"operator:{boss.email}"
