"""With 1,200 members: one admin of all, the doctor, a new master key."""

import base64
import json
import re
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx2
import jwt
import psycopg
import pytest
import sqlalchemy as sa
from tests.support.documents.blocks import blocks_of
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.crypto.sealed_values import COLUMNS
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.tables.identity import entity
from mudra.storage.tables.schema import metadata
from mudra.storage.tables.tokens import entity_secret
from mudra.tokens.secrets.secret import first_secret, new_secret_text

MANY = 1_200
LISTED = 136
"""Of IDs of 10 characters: 4,096 bytes of claim."""
NEW = f"2:{base64.b64encode(secrets.token_bytes(32)).decode()}"


@pytest.fixture(scope="module")
def rotating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("rotating") / "data") as running:
        running.in_store(onboard_many)
        yield running


async def onboard_many(dependencies: Dependencies) -> None:
    encryption, names = dependencies.encryption, [f"M-{number:04}-FIP" for number in range(MANY)]

    def secret_of(name: str, now: datetime) -> dict[str, object]:
        text, one = new_secret_text(secrets.token_bytes), first_secret(name, now)
        return {
            "entity_id": name,
            "version": one.version,
            "state": one.state.value,
            "mac": encryption.secret_mac(name, text),
            "sealed": encryption.encrypt_text(
                text, "entity_secret", "sealed", f"{name}/{one.version}"
            ),
            "created_at": one.created_at,
            "expires_at": one.expires_at,
        }

    async with dependencies.database.transaction(within_s=60) as transaction:
        now = await transaction.now()
        await transaction.connection.execute(
            sa.insert(entity),
            [{"entity_id": n, "type": "FIP", "name": n, "created_at": now} for n in names],
        )
        await transaction.connection.execute(
            sa.insert(entity_secret), [secret_of(name, now) for name in names]
        )


def old_key(service: Service) -> str:
    return (service.data_dir / "master.key").read_text().strip()


def command(service: Service, *words: str, keys: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from mudra.bootstrap.entry_point import run; run()", *words],
        env=service.environment | ({"MUDRA_MASTER_KEY": keys} if keys else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process: subprocess.Popen[str]) -> dict[str, int]:
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    found = json.loads(output)
    assert isinstance(found, dict)
    return found


def under(service: Service, version: int) -> int:
    """How many secrets of entities are under a version."""
    with embedded_server(service.data_dir) as url, psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM entity_secret WHERE substring(sealed, 2, 4) = %s",
            [version.to_bytes(4)],
        ).fetchone()
    assert row is not None
    return row[0]


def test_the_catalogue_has_every_encrypted_column() -> None:
    named = {
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if "sealed" in column.name and isinstance(column.type, sa.LargeBinary)
    }

    assert {f"{one.column.table.name}.{one.column.name}" for one in COLUMNS} == named


@pytest.mark.slow
def test_doctor_reads_the_secrets_of_1200_members(rotating: Service) -> None:
    found = {one["check"]: one for one in json.loads(rotating.cli("doctor", "--json").stdout)}

    assert found["secrets"]["ok"], found["secrets"]
    assert int(found["secrets"]["text"].split()[0]) > MANY


@pytest.mark.slow
def test_the_file_of_the_board_has_all_of_a_kind(rotating: Service) -> None:
    """The page has its first 200."""
    operator, browser = new_operator(rotating), reader(rotating)
    assert browser.sign_in(operator.email).status_code == 303
    board = "/console/operator/board?kind=no-admin"

    page, file = browser.get(board), browser.get(f"{board}&export=board")

    assert page.text.count('class="what"') == 200
    listed = set(re.findall(r"M-\d{4}-FIP", file.text))
    assert len(listed) == MANY
    assert "Only the" not in file.text


def test_the_admin_of_1200_entities_has_a_token_that_the_service_takes(rotating: Service) -> None:
    """The claim lists those that fit; a right does not depend on it."""
    one = new_member(rotating)

    async def admin_of_all(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            await transaction.connection.execute(
                sa.text(
                    "INSERT INTO entity_admin (entity_id, user_id, since)"
                    " SELECT entity_id, user_id, now() FROM entity, user_account"
                    " WHERE entity_id LIKE 'M-%' AND email = :email"
                ),
                {"email": one.email},
            )

    rotating.in_store(admin_of_all)
    token = one.user_token()
    last = Member(rotating, f"M-{MANY - 1:04}-FIP", one.email, one.password, one.client)
    answer = last.read({"Authorization": f"Bearer {token}"})

    claims = jwt.decode(token, options={"verify_signature": False})
    assert answer.status_code == 200
    assert len(token) <= 8192
    assert list(claims["entity_meta"]) == [f"M-{n:04}-FIP" for n in range(LISTED)]


@pytest.mark.slow
def test_the_key_is_rotated_under_load(rotating: Service, tmp_path: Path) -> None:
    member = new_member(rotating)
    bearer, both = member.bearer(), f"{NEW},{old_key(rotating)}"
    secret = member.read(bearer).json()["secret"]
    answers: list[int] = []
    over = threading.Event()
    load = threading.Thread(target=ask_always, args=(member, bearer, secret, answers, over))
    load.start()
    blocks = blocks_of("docs/how-to/rotate-the-master-key.md")
    (rewrap,) = (block.body.split()[1:] for block in blocks if block.first.startswith("mudra "))
    try:
        cut = command(rotating, *rewrap, "--json", keys=both)
        rotating.wait_until(lambda: under(rotating, 2) > 0)
        cut.send_signal(signal.SIGKILL)
        cut.communicate()
        rest = done(command(rotating, *rewrap, "--json", keys=both))
        again = done(command(rotating, *rewrap, "--json", keys=both))
    finally:
        over.set()
        load.join(PATIENCE_S)

    assert rest["version"] == 2
    assert again == {"version": 2, "count": 0}
    assert under(rotating, 1) == 0
    assert set(answers) <= {200, 429, 503}  # 429: quicker than one entity may be
    missing(rotating, member, bearer, secret)
    with running_service(
        tmp_path / "other", MUDRA_DATABASE_URL=url_of(rotating), MUDRA_MASTER_KEY=NEW
    ) as other:
        there = Member(other, member.entity_id, member.email, member.password, other.client())
        assert there.secret() == secret
        assert there.reset().status_code == 200


def ask_always(
    member: Member, bearer: dict[str, str], secret: str, answers: list[int], over: threading.Event
) -> None:
    while not over.is_set():
        answers.append(member.entity_token(secret).status_code)
        answers.append(member.read(bearer).status_code)


def url_of(service: Service) -> str:
    with embedded_server(service.data_dir) as url:
        return url


def missing(service: Service, member: Member, bearer: dict[str, str], secret: str) -> None:
    """A node without the new version says so, and goes on with what needs no decryption."""
    says = "this node has not version 2 of the master key"
    ready = httpx2.get(f"{service.root}/readyz", verify=NO_TLS)
    read = member.read(bearer)
    doctor = command(service, "doctor")
    output, _ = doctor.communicate(timeout=PATIENCE_S)

    for response in (ready, read):
        assert response.status_code == 503
        assert response.json()["errorMsg"].startswith(says)
    assert member.entity_token(secret).status_code == 200
    assert doctor.returncode == 1
    assert "master key version 2" in output
