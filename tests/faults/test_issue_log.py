"""What is written behind survives an error that no one foresaw (decision 0002)."""

import psycopg
from tests.support.members import Member
from tests.support.people.operators import new_operator

from mudra.storage.database.embedded.server import embedded_server


def test_tokens_noted_while_a_table_is_away_are_counted_once_it_is_back(member: Member) -> None:
    """As on a node of another release: 503 that says so, and nothing lost or double."""
    service, secret = member.service, member.secret()
    operator = new_operator(service, "members")
    log = service.data_dir / "mudra.log"

    def complaints() -> int:
        return log.read_text().count("audit of entity tokens waits for the database")

    before = complaints()
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        connection.execute("ALTER TABLE token_day RENAME TO token_day_away")
        try:
            for _ in range(3):
                assert member.entity_token(secret).status_code == 200
            service.wait_until(lambda: complaints() > before)
            asked = operator.get(f"/members/{member.entity_id}/tokens")
        finally:
            connection.execute("ALTER TABLE token_day_away RENAME TO token_day")

        def counted() -> object:
            row = connection.execute(
                "SELECT sum(count) FROM token_day WHERE entity_id = %s", [member.entity_id]
            ).fetchone()
            return row and row[0]

        assert asked.status_code == 503
        assert "schema of the service's database is that of another release" in asked.text
        service.wait_until(lambda: counted() == 3)
        noted = connection.execute(
            "SELECT count(*) FROM audit_token_issue, unnest(string_to_array(jtis, ' '))"
            " WHERE entity_id = %s",
            [member.entity_id],
        ).fetchone()
    assert noted == (3,)
