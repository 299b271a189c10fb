"""The registry through a real service of two workers: submit, approve, read, suspend."""

import datetime as dt
import json
import uuid
from pathlib import Path

import httpx2
import pytest
from joserfc import jws
from joserfc.jwk import KeySet
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.people.operators import new_operator
from tests.support.registry.registry_members import Registry, approve, live_entry, payload_of
from tests.support.registry.registry_payloads import fip, with_key
from tests.support.service import Service


@pytest.fixture
def two(service_of_two: Service) -> Service:
    return service_of_two


@pytest.fixture(scope="module")
def asking(service_of_two: Service) -> Registry:
    """A member that only reads."""
    return Registry(new_member(service_of_two, "AA"))


def test_an_entity_registers_itself_and_a_counterparty_reads_it(two):
    registry, reader = Registry(new_member(two, "FIP")), Registry(new_member(two, "AA"))
    payload = payload_of(registry.member)
    path = f"/entityInfo/FIP/{registry.member.entity_id}"

    submitted = registry.submit(payload)
    before = reader.get(path)
    approve(registry.member)
    after = reader.get(path)

    assert submitted.status_code == 200, submitted.text
    assert (submitted.json()["status"], submitted.json()["version"]) == ("submitted", 1)
    assert submitted.json()["txnid"] == payload["txnid"]
    assert (before.status_code, after.status_code) == (404, 200)
    assert after.json()["entityinfo"]["name"] == payload["entityinfo"]["name"]


def test_a_key_is_checked_in_a_process_apart(two):
    registry = Registry(new_member(two, "FIP"))
    begun = busy_apart(two)

    submitted = registry.submit(payload_of(registry.member))

    assert submitted.status_code == 200, submitted.text
    # What a modulus of 2048 bits takes on any machine: the primes alone are some megabytes.
    assert busy_apart(two) > begun + 0.005


def busy_apart(service: Service) -> float:
    """Seconds of processor of what the workers started."""
    workers = [pid for pid in children(service.process.pid) if b"worker-" in title(pid)]
    apart = [pid for worker in workers for pid in children(worker)]
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in apart)


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def title(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_repeated_submission_is_answered_as_the_first_time(two):
    registry = Registry(new_member(two, "FIP"))
    payload = payload_of(registry.member)

    first = registry.submit(payload).json()
    waiting = registry.submit(payload)
    approve(registry.member)
    live = registry.submit(payload)
    other = registry.submit(payload | {"txnid": str(uuid.uuid4())})

    for again in (waiting, live):
        assert again.status_code == 200, again.text
        assert again.json() | {"timestamp": ""} == first | {"timestamp": ""}
    assert other.status_code == 409
    assert "txnId" not in first


def test_an_update_may_name_its_entry_in_the_body_alone(two):
    registry, payload = live_entry(two, "FIP")
    address = f"{registry.root}/entityInfo/FIP"
    payload["entityinfo"]["tags"] = "A Name by PUT"

    updated = httpx2.put(address, json=payload, headers=registry.entity, verify=NO_TLS)
    unknown = httpx2.put(
        address, json=payload_of(new_member(two, "FIP")), headers=registry.entity, verify=NO_TLS
    )

    assert (updated.status_code, updated.json()["version"]) == (200, 2), updated.text
    assert unknown.status_code == 401


def test_an_admin_submits_with_a_user_token_and_no_one_else_may(two):
    mine, other = new_member(two, "FIP"), Registry(new_member(two, "FIP"))
    payload = payload_of(mine)

    refused = other.submit(payload)
    taken = other.submit(payload, **mine.bearer())

    assert (refused.status_code, taken.status_code) == (401, 200)


def test_answers_are_signed_with_a_published_key(two):
    registry, _ = live_entry(two, "AA")
    answer = registry.get("/entityInfo/AA")
    keys = KeySet.import_key_set(httpx2.get(f"{two.issuer}/protocol/openid-connect/certs").json())
    detached = answer.headers["x-jws-signature"]

    head, nothing, _ = detached.split(".")
    found = jws.deserialize_compact(detached, keys, payload=answer.content)

    assert nothing == ""
    assert head
    assert found.headers()["b64"] is False


def test_a_reader_who_has_it_gets_304_until_it_changes(two):
    registry, payload = live_entry(two, "AA")
    first = registry.get("/entityInfo/AA")
    second = registry.get("/entityInfo/AA", **{"If-None-Match": first.headers["etag"]})
    payload["entityinfo"]["tags"] = "Another Name"
    updated = registry.update(payload)
    third = registry.get("/entityInfo/AA", **{"If-None-Match": first.headers["etag"]})

    assert (second.status_code, second.content) == (304, b"")
    assert (updated.json()["status"], updated.json()["version"]) == ("live", 2)
    assert (third.status_code, "Another Name" in third.text) == (200, True)


def test_an_update_says_which_scheduled_version_it_withdraws(two):
    registry, payload = live_entry(two, "FIP")
    rotated = with_key(payload, 61_001) | {"txnid": str(uuid.uuid4())}
    assert registry.update(rotated).json()["status"] == "submitted"
    due = (dt.datetime.now(dt.UTC) + dt.timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%S")
    approve(registry.member, "--from", f"{due}Z")

    payload["entityinfo"]["tags"] = "Another Name"
    updated = registry.update(payload).json()

    said = f"withdraws version 2, which was approved to go live at {due}.000Z"
    assert [(one["problem"], one["severity"]) for one in updated["findings"]] == [(said, "note")]
    audit = new_operator(two, "audit").get("/audit", entityId=registry.member.entity_id)
    details = [one["detail"] for one in audit.json()["events"]]
    assert [one["withdrawnDueAt"] for one in details if one.get("withdrawn") == 2] == [
        f"{due}.000Z"
    ]


def test_a_suspension_stops_tokens_and_takes_the_entry_out_on_every_worker_at_once(two):
    registry, _ = live_entry(two, "FIP")
    reader = Registry(new_member(two, "AA"))
    member = registry.member
    path = f"/entityInfo/FIP/{member.entity_id}"
    for _ in range(12):  # every worker knows the entity by heart
        fresh = new_address_client(two, member)
        assert fresh.status_code == 200

    two.cli("registry", "suspend", member.entity_id, "--reason", "a test")
    tokens = {new_address_client(two, member).status_code for _ in range(12)}
    shown = {reader.get(path).status_code for _ in range(12)}
    own = registry.get(path).status_code
    two.cli("registry", "restore", member.entity_id)

    assert (tokens, shown, own) == ({401}, {404}, 401)
    assert new_address_client(two, member).status_code == 200


def new_address_client(service: Service, member: Member) -> httpx2.Response:
    # A connection of its own: the system gives it to one of the workers.
    with httpx2.Client(base_url=service.issuer) as client:
        return client.post(
            "/v1/entity/token/generate",
            data={
                "id": member.entity_id,
                "secret": SECRETS.setdefault(member.entity_id, member.secret()),
            },
        )


SECRETS: dict[str, str] = {}


def test_all_findings_come_at_once(two):
    registry = Registry(new_member(two, "FIP"))
    payload = payload_of(registry.member, baseurl="ftp://x", ips=["nonsense"], fitypes=["DEPOSIT"])

    answer = registry.submit(payload)

    body = answer.json()
    assert (answer.status_code, body["errorCode"]) == (400, "InvalidRequest")
    assert {"$.entityinfo.baseurl", "$.entityinfo.ips[0]"} <= {f["path"] for f in body["findings"]}
    assert "more in findings" in body["errorMsg"]


def test_the_same_findings_are_had_without_a_submission_and_nothing_is_kept(two):
    registry = Registry(new_member(two, "FIP"))
    wrong = payload_of(registry.member, baseurl="ftp://x", ips=["nonsense"])
    right = payload_of(registry.member, fitypes=["TERM-DEPOSIT"])

    refused = registry.submit(wrong).json()["findings"]
    asked = [registry.lint(one) for one in (wrong, right, [right], {}, 17)]
    lone = registry.lint(right, kind="AA")
    nowhere = registry.lint(right, kind="BANK")
    others = registry.lint(fip(1))

    assert [one.status_code for one in (*asked, lone)] == [200] * 6, [one.text for one in asked]
    reported = [one.json() for one in asked]
    assert (reported[0]["findings"], reported[0]["passes"]) == (refused, False)
    assert [one["severity"] for one in reported[1]["findings"]] == ["note"]
    assert [one["passes"] for one in reported] == [False, True, False, False, False]
    assert lone.json()["findings"][0]["path"] == "$.type"
    assert (nowhere.status_code, others.status_code) == (404, 401)
    assert registry.lint("x" * 70_000).status_code == 413
    for _ in range(30):  # as many as there are writes in an hour: none is used up
        assert registry.lint(wrong).status_code == 200
    assert registry.submit(right).json()["version"] == 1  # nothing was kept


def test_a_scheduled_version_goes_live_when_the_clock_comes_there(two):
    registry = Registry(new_member(two, "AA"))
    assert registry.submit(payload_of(registry.member)).status_code == 200
    approve(registry.member, "--in", "PT2H")
    path = f"/entityInfo/AA/{registry.member.entity_id}"
    assert registry.get(path).status_code == 404

    two.advance("PT2H1M")
    two.wait_until(lambda: registry.get(path).status_code == 200)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/changes?since=-1", 400),
        ("/changes?since=x", 400),
        ("/changes?since=1&since=2", 400),
        ("/entityInfo/FIP?at=2020-01-01T00:00:00Z&at=2021-01-01T00:00:00Z", 400),
        ("/changes?since=99999999999999", 200),
        ("/entityInfo/FIP?at=2026-02-30T00:00:00Z", 400),
        ("/entityInfo/FIP?at=2020-01-01T00:00:00Z", 200),
        ("/entityInfo/NONE", 404),
        ("/entityInfo/FIP/%00", 404),
        ("/entityInfo/FIP/a%2Fb", 404),
    ],
)
def test_odd_reads_are_answered_and_never_a_fault(asking, path, status):
    assert asking.get(path).status_code == status


def test_history_is_shown_as_json(two):
    registry, _ = live_entry(two, "FIP")
    shown = json.loads(two.cli("registry", "history", registry.member.entity_id, "--json").stdout)
    assert [one["status"] for one in shown["versions"]] == ["live"]
    assert shown["keys"][0]["until"] is None
