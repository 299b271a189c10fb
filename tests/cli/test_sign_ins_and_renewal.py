"""mudra logout, profiles, secret renew, and the question before what cannot be undone."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from tests.support.members import Member, new_member
from tests.support.service import Service

MUDRA = str(Path(sys.executable).with_name("mudra"))


@pytest.fixture
def member(service: Service) -> Iterator[Member]:
    member = new_member(service)
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    yield member
    service.cli("logout", check=False)


def test_a_logout_revokes_the_token_and_deletes_it(
    service: Service, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUDRA_PROFILE", "alone")
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    token = service.cli("token", "user").stdout.strip()

    done = json.loads(service.cli("logout", "--json").stdout)
    after = service.cli("token", "user", check=False)

    assert (done["user"], done["revoked"]) == (member.email, True)
    assert after.exit_code == 3
    answer = member.read({"Authorization": f"Bearer {token}"})
    assert answer.json()["errorCode"] == "TokenRevoked"


def test_a_sign_in_that_was_ended_elsewhere_is_none(service: Service, member: Member) -> None:
    token = service.cli("token", "user").stdout.strip()
    jti = jwt.decode(token, options={"verify_signature": False})["jti"]
    ended = member.client.post(
        "/v1/user/token/revoke",
        json={"jti": jti},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert ended.status_code == 200, ended.text

    after = service.cli("session", "list", check=False)

    assert "(TokenRevoked, txnId" in after.stderr
    assert f"run mudra login {member.email}" in after.stderr
    assert after.exit_code == 3


def test_after_a_failed_login_and_a_refused_right_it_is_said_whose_sign_in_is_used(
    service: Service, member: Member
) -> None:
    other = new_member(service)

    failed = service.cli("login", other.email, "--password-stdin", stdin="wrong\n", check=False)
    own = service.cli("login", member.email, "--password-stdin", stdin="wrong\n", check=False)
    refused = service.cli("dispute", "list", other.entity_id, "--json", check=False)

    assert f"mudra: commands go on as {member.email}, who is still signed in" in failed.stderr
    assert "go on as" not in own.stderr
    assert f"signed in as {member.email}: mudra login EMAIL changes it" in refused.stderr
    assert refused.stdout == ""


def test_a_profile_has_sign_ins_of_its_own(
    service: Service, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUDRA_PROFILE", "staging")
    before = service.cli("session", "list", check=False)
    service.cli("login", member.email, "--password-stdin", stdin=f"{member.password}\n")
    within = service.cli("session", "list", check=False)
    service.cli("logout")
    monkeypatch.setenv("MUDRA_PROFILE", "../else")
    wrong = service.cli("session", "list", check=False)
    monkeypatch.delenv("MUDRA_PROFILE")

    assert (before.exit_code, within.exit_code) == (3, 0)
    assert "a profile's name has" in wrong.stderr
    assert service.cli("session", "list", check=False).exit_code == 0


def test_a_secret_is_renewed_once_it_is_due_and_the_command_runs_when_it_changed(
    service: Service, member: Member, tmp_path: Path
) -> None:
    file, ran = tmp_path / "secret", tmp_path / "ran"
    words = ("secret", "renew", member.entity_id, "--out", str(file), "--json")
    run = ("--exec", f"echo x >> {ran}")

    first = json.loads(service.cli(*words, *run, "--before", "1d").stdout)
    kept = file.read_text()
    again = json.loads(service.cli(*words, *run, "--before", "1d").stdout)
    due = json.loads(service.cli(*words, *run, "--before", "P400D").stdout)

    assert [(one["reset"], one["written"]) for one in (first, again, due)] == [
        (False, True),
        (False, False),
        (True, True),
    ]
    assert file.read_text() != kept
    assert member.entity_token(file.read_text().strip()).status_code == 200
    assert member.entity_token(kept.strip()).status_code == 200  # for a day
    assert file.stat().st_mode & 0o777 == 0o600
    assert ran.read_text() == "x\nx\n"


@pytest.mark.slow
def test_a_retirement_asks_on_a_terminal_unless_yes_is_given(service: Service) -> None:
    member = new_member(service)
    words = ("member", "retire", member.entity_id, "--reason", "left")

    refused = _on_a_terminal(service, *words, typed=b"n\n")
    answered = _on_a_terminal(service, *words, "--yes", typed=b"")

    assert (refused.returncode, answered.returncode) == (1, 0)
    assert "can never be active again" in refused.stderr
    assert "can never be active again" not in answered.stderr


def _on_a_terminal(
    service: Service, *words: str, typed: bytes
) -> "subprocess.CompletedProcess[str]":
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed)
        return subprocess.run(
            [MUDRA, *words],
            env=os.environ | service.environment,
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
