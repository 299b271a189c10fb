"""A backup under load holds whole acts only, and a restore is a rollback."""

import hashlib
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
import jwt
import psycopg
import pyrage
import pytest
from tests.faults.postgres.backed_up import Kept, Load
from tests.faults.postgres.second_place import until_exported
from tests.support.agent.agent_process import free_port
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.metrics.stored_blocks import stored_blocks
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.smtp_sink import smtp_sink

from mudra.overview.restored_store import look
from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.roles import OWNER, SERVICE, as_role

MEMBERS = 10
DURING = 2
"""So many acts of each kind are acknowledged before the backup, and again after it."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    home = tmp_path_factory.mktemp("backup")
    with running_service(home / "data", "--workers", "2", keeps_store=True) as service:
        members = [
            (member, member.bearer()) for member in (new_member(service) for _ in range(MEMBERS))
        ]
        identity = home / "backup.key"
        public = service.cli("backup", "key", str(identity)).stdout.strip()
        token = members[0][0].entity_token(members[0][0].secret()).json()["accessToken"]
        secret = members[-1][0].secret()
        old = members[-1][1]
        with Load(members, pushing_aa(service)) as load:
            load.wait_for_more(DURING, DURING)
            began = time.monotonic()
            service.cli("backup", "create", "--to", str(home / "kept"), "--recipient", public)
            ended = time.monotonic()
            load.backed_up.set()
            load.wait_for_more(DURING, DURING)
        revoke(service, members[0][0], token)
        until_exported(service, token_id(token))
        (file,) = (home / "kept").glob("*.dump.age")
        yield Kept(file, identity, load, began, ended, service, token, old, secret)


def token_id(token: str) -> str:
    return str(jwt.decode(token, options={"verify_signature": False})["jti"])


def revoke(service: Service, member: Member, token: str) -> None:
    answer = httpx2.post(
        f"{service.issuer}/oauth2/revoke",
        data={"token": token},
        auth=(member.entity_id, member.secret()),
        verify=NO_TLS,
    )
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def restored(
    kept: Kept, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, object]]:
    folder = kept.place(tmp_path_factory.mktemp("restored") / "data")
    done = kept.restore(folder, "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_a_backup_under_load_holds_every_acknowledged_act_and_nothing_half(
    kept: Kept, restored: tuple[Path, dict[str, object]]
) -> None:
    with embedded_server(restored[0]) as url, psycopg.connect(url) as connection:
        reset = {
            str(entity): (versions, audited, mailed)
            for entity, versions, audited, mailed in connection.execute(
                "SELECT s.entity_id, count(*) - 1,"
                " (SELECT count(*) FROM audit_event a WHERE a.entity_id = s.entity_id"
                "  AND a.event = 'entity:secret:reset' AND a.outcome = 'success'),"
                " (SELECT count(*) FROM mail_outbox m"
                "  WHERE m.recipient LIKE '%-' || split_part(s.entity_id, '-', 2) || '@%'"
                "  AND m.subject LIKE '%: the entity secret was reset')"
                " FROM entity_secret s GROUP BY s.entity_id"
            ).fetchall()
        }
        stored = Counter((one.aa_id, one.tag, one.at) for one in stored_blocks(connection))
        pushed = {
            txn_id: blocks == stored[tuple(key)]
            for txn_id, blocks, *key in connection.execute(
                "SELECT txn_id, blocks, aa_id, tag, window_at FROM metrics_receipt"
            ).fetchall()
        }

    assert all(versions == audited == mailed for versions, audited, mailed in reset.values()), reset
    assert all(pushed.values()), pushed
    for journal, present in (
        (kept.load.resets, {entity for entity, (versions, _, _) in reset.items() if versions}),
        (kept.load.pushes, set(pushed)),
    ):
        before = {one.about for one in journal if one.answered < kept.began}
        after = {one.about for one in journal if one.asked > kept.ended}
        assert len(before) >= DURING
        assert len(after) >= 1
        assert before <= present
        assert not after & present


def test_a_restore_is_a_rollback(kept: Kept, restored: tuple[Path, dict[str, object]]) -> None:
    """O2: sign-ins end, what is lost is listed, what was revoked stays so, members get an email."""
    folder, report = restored
    lost = {(act["event"], act["entityId"]) for act in report["lost"]}
    member = kept.load.members[0][0]
    last = max(kept.load.resets, key=lambda one: one.asked).about
    with running_service(folder) as again:
        old = again.client().post(
            "/v1/entity/secret/read",
            json={"entityId": kept.load.members[-1][0].entity_id},
            headers=kept.old_token,
        )
        mails = json.loads(again.cli("mail", "list", "--json").stdout)
        verdict = again.cli("audit", "verify", check=False)
        again.cli("audit", "confirm-restore")

    assert ("entity:token:revoke", member.entity_id) in lost
    assert ("entity:secret:reset", last) in lost
    assert report["revokedAgain"] == 1
    assert report["tokensEnded"] >= MEMBERS
    assert report["membersNotified"] >= MEMBERS
    assert old.status_code == 401
    notified = {mail["to"] for mail in mails if "restored to an earlier state" in mail["subject"]}
    assert {one.email for one, _ in kept.load.members} <= notified
    assert verdict.exit_code == 1


@pytest.mark.slow
def test_a_rehearsal_reaches_no_one(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No member is notified, and what a node writes on it waits for ever."""
    folder = kept.place(tmp_path_factory.mktemp("rehearsed") / "data")
    done = kept.restore(folder, "--rehearsal", "--json")
    with (
        smtp_sink() as sink,
        running_service(
            folder,
            MUDRA_SMTP_URL=f"smtp://127.0.0.1:{sink.port}",
            MUDRA_TELEMETRY_PORT=str(free_port()),
        ) as node,
    ):
        new_member(node)
        node.advance("PT5M")
        port = node.environment["MUDRA_TELEMETRY_PORT"]
        figures = httpx2.get(f"http://127.0.0.1:{port}/metrics", verify=NO_TLS).text
        waiting = json.loads(node.cli("mail", "list", "--json").stdout)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["membersNotified"] == 0
    assert sink.received == []
    assert [one for one in waiting if not one["sentAt"]]
    for job in ("mail", "metrics-webhooks", "status-webhooks", "probes"):
        assert f'job="{job}"' not in figures
    assert 'job="mail-alarms"' in figures
    assert "a rehearsal of a restore" in (folder / "mudra.log").read_text()


def test_a_copy_of_what_was_restored_is_a_copy(
    restored: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    """Its facts say that the backup was restored to the end: in another place."""
    with embedded_server(restored[0]) as url, own_postgres(tmp_path / "other") as made:
        as_superuser(made, "CREATE DATABASE copied")
        other = made.replace("/mudra?", "/copied?")
        here = look(url)
        dump = subprocess.run(
            [programs() / "pg_dump", "-Fc", "--no-owner", "--no-privileges", url],
            capture_output=True, check=True,
        ).stdout  # fmt: skip
        subprocess.run(
            [programs() / "pg_restore", "--no-owner", "--no-privileges", "-d", other],
            input=dump, check=True,
        )  # fmt: skip
        there = look(other)

    assert not here.unfinished
    assert there.unfinished


def test_a_restore_that_was_finished_does_nothing_again(
    kept: Kept, restored: tuple[Path, dict[str, object]]
) -> None:
    done = kept.restore(restored[0])

    assert (done.returncode, done.stdout.startswith("Nothing to do")) == (0, True), done.stderr


def test_a_directory_in_use_is_refused_and_its_process_named(kept: Kept) -> None:
    done = kept.restore(kept.service.data_dir, "--replace")

    assert done.returncode == 1
    assert f"process {kept.service.process.pid} already serves" in done.stderr


@pytest.mark.slow
def test_a_directory_with_data_is_refused_and_set_aside_when_asked_to(
    kept: Kept, restored: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    folder = kept.place(tmp_path / "other")
    prepare(folder)
    with embedded_server(folder) as url, psycopg.connect(url) as connection:
        connection.execute("DROP TABLE entity CASCADE")  # so it is none of ours

    refused = kept.restore(folder)
    done = kept.restore(folder, "--replace", "--json")

    assert refused.returncode == 1
    assert "holds a database already" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert (Path(json.loads(done.stdout)["setAside"]) / "PG_VERSION").exists()


@pytest.mark.slow
def test_a_damaged_backup_changes_nothing_and_the_whole_one_is_restored_after_it(
    kept: Kept, tmp_path: Path
) -> None:
    """Cut in the middle with a matching checksum: only decrypting it shows the damage."""
    folder, damaged = kept.place(tmp_path / "data"), tmp_path / kept.file.name
    whole = kept.file.read_bytes()
    details = json.loads(
        kept.file.with_name(kept.file.name.replace(".dump.age", ".json")).read_text()
    )
    damaged.write_bytes(whole[:-200])
    description = tmp_path / kept.file.name.replace(".dump.age", ".json")
    description.write_text(json.dumps(details))
    words = ("--identity", str(kept.identity))
    cut = run_mudra("restore", str(damaged), *words, MUDRA_DATA_DIR=str(folder))
    altered = details | {
        "fileBytes": len(whole) - 200,
        "sha256": hashlib.sha256(whole[:-200]).hexdigest(),
    }
    description.write_text(json.dumps(altered))
    verified = run_mudra("backup", "verify", str(damaged), *words)
    half = run_mudra("restore", str(damaged), *words, MUDRA_DATA_DIR=str(folder))
    with embedded_server(folder) as url, psycopg.connect(url) as connection:
        tables = connection.execute("SELECT to_regclass('entity')").fetchone()
    done = kept.restore(folder)

    assert "another checksum" in cut.stderr
    assert [one.returncode for one in (cut, verified, half)] == [1, 1, 1]
    assert "cut short" in half.stderr
    assert tables == (None,)
    assert done.returncode == 0, done.stderr


def test_neither_master_key_nor_a_secret_is_in_a_backup_and_verify_reads_it_all(
    kept: Kept, tmp_path: Path
) -> None:
    key = pyrage.x25519.Identity.from_str(kept.identity.read_text().splitlines()[-1])
    plain = pyrage.decrypt(kept.file.read_bytes(), [key])
    (tmp_path / "dump").write_bytes(plain)
    listed = subprocess.run(
        [programs() / "pg_restore", "-f", "-", tmp_path / "dump"],
        capture_output=True,
        check=True,
    ).stdout
    master = (kept.service.data_dir / "master.key").read_text().strip().rpartition(":")[2]

    assert b"CREATE TABLE public.entity_secret" in listed
    assert master.encode() not in listed
    assert kept.secret.encode() not in listed
    assert b"entity_secret" not in kept.file.read_bytes()
    verified = run_mudra(
        "backup", "verify", str(kept.file), "--identity", str(kept.identity), "--json"
    )
    assert json.loads(verified.stdout)["intact"] is True
    assert kept.file.stat().st_mode & 0o777 == 0o600


def test_without_the_master_key_or_the_private_key_nothing_is_begun(
    kept: Kept, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    other = tmp_path / "other.key"
    run_mudra("backup", "key", str(other))

    no_master = kept.restore(folder)
    kept.place(tmp_path / "placed")
    wrong = run_mudra(
        *("restore", str(kept.file), "--identity", str(other)),
        MUDRA_DATA_DIR=str(tmp_path / "placed"),
    )

    assert "master.key is missing" in no_master.stderr
    assert not (folder / "postgres").exists()
    assert wrong.returncode == 1
    assert "another key" in wrong.stderr


@pytest.mark.slow
def test_an_operators_own_postgresql(kept: Kept, tmp_path: Path) -> None:
    """Made of a database of its own, restored into an empty one; one in use is refused."""
    with own_postgres(tmp_path / "server") as url:
        as_superuser(
            url,
            "CREATE DATABASE restored OWNER mudra_owner",
            "GRANT CONNECT ON DATABASE restored TO mudra_service",
        )
        restored = url.replace("/mudra?", "/restored?")
        as_superuser(restored, "ALTER SCHEMA public OWNER TO mudra_owner")
        data = {
            "MUDRA_DATA_DIR": str(tmp_path / "node"),
            "MUDRA_DATABASE_URL": as_role(url, SERVICE),
            "MUDRA_DATABASE_OWNER_URL": as_role(url, OWNER),
        }
        with running_service(tmp_path / "node", **data) as service:
            member = new_member(service)
            public = kept.identity.read_text().splitlines()[0].rpartition(" ")[2]
            made = run_mudra(
                *("backup", "create", "--to", str(tmp_path / "kept"), "--recipient", public),
                "--json",
                **data,
            )
            assert made.returncode == 0, made.stderr
        file = json.loads(made.stdout)["file"]
        there = data | {
            "MUDRA_DATABASE_URL": as_role(restored, SERVICE),
            "MUDRA_DATABASE_OWNER_URL": as_role(restored, OWNER),
        }
        words = ("restore", file, "--identity", str(kept.identity))
        with psycopg.connect(restored):
            used = run_mudra(*words, **there)
        done = run_mudra(*words, **there)
        with psycopg.connect(restored) as connection:
            found = connection.execute("SELECT entity_id FROM entity").fetchall()

    assert "1 other sessions use the database" in used.stderr
    assert done.returncode == 0, done.stderr
    assert found == [(member.entity_id,)]


@pytest.mark.slow
def test_the_how_to_is_followed_word_by_word(kept: Kept, tmp_path: Path) -> None:
    """Each command of the page, in its order, with this test's names in place of the examples."""
    page = Path("docs/how-to/back-up-and-restore.md").read_text()
    commands = re.findall(r"^ *(mudra .*)$", page, re.MULTILINE)
    folder = kept.place(tmp_path / "data")
    names = {
        "mudra-20261122T023000Z.dump.age": str(kept.file),
        "/srv/mudra": str(folder),
        "/srv/rehearsal": str(kept.place(tmp_path / "rehearsal")),
    }
    said = {}
    for command in commands:
        words = [names.get(word, word) for word in command.split()[1:]]
        if "backup.key" in words:
            new = str(tmp_path / "new.key") if words[1] == "key" else str(kept.identity)
            words[words.index("backup.key")] = new
        of_service = words[:2] == ["backup", "create"]
        done = run_mudra(
            *words,
            MUDRA_DATA_DIR=str(kept.service.data_dir if of_service else folder),
            MUDRA_BACKUP_DIR=str(tmp_path / "backups"),
            MUDRA_BACKUP_RECIPIENTS=said.get("mudra backup key backup.key", "").strip(),
        )
        assert done.returncode == 0, (command, done.stderr)
        said[command] = done.stdout

    assert len(commands) == 8
    assert "entity:secret:reset" in said["mudra audit lost"]
