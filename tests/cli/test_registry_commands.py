"""Every command of the registry, end to end, as an operator and as a member's admin use them."""

import json
import re
import stat
from typing import Any

import pytest
from tests.support.members import Member, new_member
from tests.support.registry.registry_members import Registry, payload_of
from tests.support.registry.registry_payloads import aa, fip, fiu, with_key
from tests.support.service import Service


@pytest.fixture(scope="module")
def admin(service: Service) -> Member:
    """A FIP whose admin is signed in on this machine."""
    member = new_member(service, "FIP")
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    return member


def run(service: Service, *words: str, code: int = 0):
    done = service.cli("registry", *words, "--json", check=False)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout) if done.stdout.strip() else done.output


def written(tmp_path, payload) -> str:
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(payload))
    return str(file)


def test_lint_needs_no_service_and_finds_everything_at_once(service: Service, tmp_path):
    good, wrong = fip(1), fip(2, baseurl="ftp://x", ips=["nonsense"])

    passes = run(service, "lint", written(tmp_path, good))
    refused = run(service, "lint", written(tmp_path, wrong), code=1)
    no_json = run(service, "lint", written(tmp_path, "x")[:-5] + ".none", code=2)

    assert passes == {"payloads": 1, "passes": True, "findings": []}
    assert {one["path"] for one in refused["findings"]} == {
        "$.entityinfo.baseurl",
        "$.entityinfo.ips[0]",
    }
    assert "cannot be read" in no_json


def test_a_new_key_is_private_on_disk_and_its_public_part_fits_a_payload(
    service: Service, tmp_path
):
    key = tmp_path / "key.pem"
    done = service.cli("jwk", "new", "--private-key", str(key))
    again = service.cli("jwk", "new", "--private-key", str(key), check=False)
    certificate = json.loads(done.stdout)

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "PRIVATE KEY" in key.read_text()
    assert "d" not in certificate
    assert run(service, "lint", written(tmp_path, fip(3, certificate=certificate)))["passes"]
    assert again.exit_code == 2
    assert "is there already" in again.output


def approved_as_shown(service: Service, entity_id: str) -> dict[str, Any]:
    """Approve by the command that `approve` without a version shows; another hash is refused."""
    not_named = service.cli("registry", "approve", entity_id, check=False)
    assert not_named.exit_code == 2
    assert "$.entityinfo.certificate.kid" in not_named.output
    history = run(service, "history", entity_id)
    keys = [one["thumbprint"] for one in history["versions"][-2:]]
    assert f"key (thumbprint of RFC 7638)  {keys[0]}  {keys[1]}" in not_named.output
    assert max(len(line) for line in not_named.output.splitlines()) < 200
    command = re.search(r"`mudra (registry approve .* --hash [0-9a-f]{64})`", not_named.output)
    assert command, not_named.output
    words = command[1].split()[1:]
    assert "review it and decide again" in run(service, *words[:-1], "0" * 64, code=1)
    return run(service, *words)


def test_an_entry_lives_through_every_command(service: Service, tmp_path):
    payload = aa(500)
    entity_id = payload["entityinfo"]["id"]
    submit = ("submit", written(tmp_path, payload), "--as-operator")

    first = run(service, *submit)
    repeated = run(service, *submit)
    rejected = run(service, "reject", entity_id, "--reason", "no contract")
    submitted = run(service, *submit[:-1], "--as-operator")
    assert [one[0]["result"] for one in (first, repeated)] == ["submitted", "unchanged"]
    assert (rejected["status"], submitted[0]["result"]) == ("rejected", "unchanged")

    payload["txnid"] = payload["txnid"][:-4] + "beef"
    assert run(service, "submit", written(tmp_path, payload), "--as-operator")[0]["result"] == (
        "submitted"
    )
    assert "replaced by version 2" in run(service, "approve", entity_id, "--version", "1", code=1)
    assert run(service, "approve", entity_id, "--version", "2")["status"] == "live"
    shown = run(service, "show", entity_id)
    assert (shown["standing"], shown["version"]) == ("live", 2)

    renewed = with_key(payload, 27_182)
    renewed["entityinfo"]["certificate"]["kid"] = "renewed"
    assert run(service, "submit", written(tmp_path, renewed), "--as-operator")[0]["result"] == (
        "submitted"
    )
    assert approved_as_shown(service, entity_id)["version"] == 3
    back = run(service, "rollback", entity_id, "--to", "2", "--reason", "wrong key")
    assert (back["status"], back["version"]) == ("live", 4)

    suspended = run(service, "suspend", entity_id, "--reason", "key has leaked")
    exported = {one["entityinfo"]["id"] for one in json.loads(exported_text(service))}
    restored = run(service, "restore", entity_id)
    retired = run(service, "retire", entity_id, "--reason", "left")
    assert [one["standing"] for one in (suspended, restored, retired)] == [
        "suspended",
        "live",
        "retired",
    ]
    assert entity_id not in exported
    assert "is retired" in run(service, "restore", entity_id, code=1)

    history = run(service, "history", entity_id)
    assert [one["status"] for one in history["versions"]] == [
        "rejected",
        "superseded",
        "superseded",
        "superseded",
    ]
    assert [one["kid"] for one in history["keys"]] == ["kid-20500", "renewed", "kid-20500"]
    assert all(one["since"] and one["until"] for one in history["keys"])
    changed = {one["path"]: one for one in history["versions"][2]["changes"]}
    assert changed["$.entityinfo.certificate.n"]["needsApproval"]
    assert "verified with another key" in changed["$.entityinfo.certificate.n"]["risk"]


def exported_text(service: Service) -> str:
    return service.cli("registry", "export").stdout


def test_an_admin_submits_and_updates_with_the_kept_sign_in(
    admin: Member, service: Service, tmp_path
):
    payload = payload_of(admin)
    first = run(service, "submit", written(tmp_path, payload))
    run(service, "approve", admin.entity_id, "--version", "1")
    payload["entityinfo"]["tags"] = "Another Name"
    payload["entityinfo"]["fitypes"] = ["TERM-DEPOSIT"]
    second = run(service, "submit", written(tmp_path, payload))

    assert first[0] == {"entityId": admin.entity_id, "result": "submitted", "detail": ""}
    assert second[0]["result"] == "live"
    assert "was read as TERM_DEPOSIT" in second[0]["detail"]
    assert run(service, "history", admin.entity_id)["versions"][0]["submittedBy"].startswith(
        "user:"
    )


def test_an_admin_sees_every_finding_and_never_submits_for_another(
    admin: Member, service: Service, tmp_path
):
    wrong = service.cli(
        "registry",
        "submit",
        written(tmp_path, payload_of(admin, baseurl="ftp://x", ips=["nonsense"])),
        check=False,
    )
    other = service.cli("registry", "submit", written(tmp_path, fiu(77)), check=False)

    assert (wrong.exit_code, other.exit_code) == (1, 1)
    assert "$.entityinfo.baseurl" in wrong.output
    assert "$.entityinfo.ips[0]" in wrong.output
    assert "must be the entity that you act for" in other.output


def test_without_a_sign_in_submit_says_what_to_do(service: Service, tmp_path):
    done = service.cli(
        "registry",
        "submit",
        written(tmp_path, fip(5)),
        "--base-url",
        "http://127.0.0.1:9/iam",
        check=False,
    )

    assert done.exit_code == 3
    assert "mudra login" in done.output


def test_lint_asks_the_service_for_its_own_words_and_rules(
    service: Service, admin: Member, tmp_path
):
    run(service, "vocabulary", "add", "fitype", "ART_LOAN")
    file = written(tmp_path, payload_of(admin, fitypes=["ART_LOAN"], baseurl="http://10.0.0.1/v2"))

    offline = run(service, "lint", file, code=1)
    online = run(service, "lint", file, "--online")
    wrong = run(service, "lint", written(tmp_path, {"type": "BANK"}), "--online", code=1)
    others = run(service, "lint", written(tmp_path, fip(9)), "--online", code=1)
    both = run(service, "lint", file, "--online", "--older", code=2)

    assert {one["path"] for one in offline["findings"]} == {
        "$.entityinfo.baseurl",
        "$.entityinfo.fitypes[0]",
    }
    assert online == {"payloads": 1, "passes": True, "findings": []}
    assert {"$.type", "$.entityinfo"} <= {one["path"] for one in wrong["findings"]}
    assert "the entity that you act for" in others
    assert "--older and --sandbox work offline only" in " ".join(both.split())


def test_a_word_that_an_operator_adds_is_taken_from_then_on(service: Service, tmp_path):
    registry = Registry(new_member(service, "FIP"))
    payload = payload_of(registry.member, fitypes=["GOLD-LOANS"])

    before = registry.submit(payload)
    added = run(service, "vocabulary", "add", "fitype", "GOLD_LOAN", "--variant", "GOLD-LOANS")
    after = registry.submit(payload)
    again = run(service, "vocabulary", "add", "identifierType", "MOBILE NO", code=1)
    wrong = run(service, "vocabulary", "add", "fitype", "GOLD", "--group", "Gold loans", code=1)

    assert (before.status_code, after.status_code) == (400, 200)
    assert added["word"] == "GOLD_LOAN"
    assert "GOLD_LOAN" in run(service, "vocabulary", "list")["fitype"]
    assert "was read as GOLD_LOAN" in str(after.json()["findings"])
    assert "a capital letter" in again
    assert "a small letter" in wrong


@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (("approve", "NO-SUCH"), 1, "no entry NO-SUCH"),
        (("history", "NO-SUCH"), 1, "no entry NO-SUCH"),
        (("approve", "X", "--from", "tomorrow"), 2, "--from must be a time"),
        (("approve", "X", "--in", "two days"), 2, "--in must be a duration"),
        (("approve", "X", "--in", "PT1H", "--from", "2030-01-01T00:00:00Z"), 2, "not both"),
        (("rollback", "NO-SUCH", "--to", "1", "--reason", "x"), 1, "no entry NO-SUCH"),
        (("suspend", "NO-SUCH", "--reason", "x"), 1, "no entry NO-SUCH"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_done_is_reported(service: Service, words, code, reported):
    assert reported in run(service, *words, code=code)
