"""A node that stops writes what it keeps in memory for a moment."""

import json
from pathlib import Path

import psycopg
from tests.support.members import new_member
from tests.support.process import running_service

from mudra.storage.database.embedded.server import embedded_server

TOKENS = 7


def test_what_was_done_just_before_a_stop_is_in_audit_and_log(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        member = new_member(service)
        secret = member.secret()
        issued = [member.entity_token(secret).status_code for _ in range(TOKENS)]
        refused = member.entity_token(f"{secret[:-1]}!").status_code
        assert service.stop() == 0

        lines = (service.data_dir / "mudra.log").read_text().splitlines()
        with (
            embedded_server(service.data_dir) as conninfo,
            psycopg.connect(conninfo) as connection,
        ):
            noted = connection.execute(
                "SELECT count(*) FROM audit_token_issue, unnest(string_to_array(jtis, ' '))"
                " WHERE entity_id = %s",
                [member.entity_id],
            ).fetchone()
            turned_away = connection.execute(
                "SELECT count(*) FROM audit_event WHERE entity_id = %s AND outcome = 'refused'",
                [member.entity_id],
            ).fetchone()

    assert (set(issued), refused) == ({200}, 401)
    assert noted == (TOKENS,)
    assert turned_away == (1,)
    asked = [line for line in lines if '"path":"/iam/v1/entity/token/generate"' in line]
    assert len(asked) == TOKENS + 1


def test_a_stop_says_how_much_it_could_not_write(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        member = new_member(service)
        secret = member.secret()
        with (
            embedded_server(service.data_dir) as conninfo,
            psycopg.connect(conninfo, autocommit=True) as connection,
        ):
            connection.execute("ALTER TABLE token_day RENAME TO token_day_away")
            assert {member.entity_token(secret).status_code for _ in range(TOKENS)} == {200}
            assert service.stop() == 0

        (said,) = [
            json.loads(line)
            for line in (service.data_dir / "mudra.log").read_text().splitlines()
            if "audit of entity tokens is lost" in line
        ]
    assert (said["kind"], said["events"]) == ("issued", TOKENS)
