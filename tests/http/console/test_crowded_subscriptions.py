"""A crowd that asks for emails of the public status keeps no one else from them (0117)."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.http.console.test_status_subscription import ASK, link_to, someone, subscribed
from tests.support.alarm_network import emails_to
from tests.support.people.console import reader
from tests.support.people.operators import Operator, new_operator
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import until

from mudra.storage.database.embedded.server import embedded_server

MAX_CONFIRMATIONS_AN_HOUR = 1000
MAX_WAITING = 10_000

CROWD = """
INSERT INTO status_subscription (
    subscription_id, email, fip_id, language, token_hash, sealed_token, waits, confirmations,
    asked_at, mailed_at
)
SELECT gen_random_uuid(), n || '@crowd.example', '', 'en', decode(md5(n::text), 'hex'),
    ''::bytea, false, 1, %(now)s - interval '3 hours' + n * interval '1 ms',
    %(now)s - %(mailed)s::interval
FROM generate_series(1, %(number)s) AS n
"""
OF_CROWD = "SELECT FROM status_subscription WHERE confirmed_at IS NULL"
OLDEST = "SELECT FROM status_subscription WHERE email = '1@crowd.example'"
Store = psycopg.Connection[tuple[object, ...]]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own, whose status page is there."""
    folder = tmp_path_factory.mktemp("crowd") / "data"
    with running_service(folder, keeps_store=True) as running:
        browser = reader(running)
        until(lambda: browser.get("/status").status_code == 200)
        yield running


@pytest.fixture
def store(own: Service) -> Iterator[Store]:
    """The database, without subscriptions."""
    with (
        embedded_server(own.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        connection.execute("DELETE FROM status_subscription")
        yield connection


@pytest.fixture(scope="module")
def noc(own: Service) -> Operator:
    return new_operator(own, "health")


def crowd(own: Service, store: Store, number: int, mailed: str) -> None:
    """Store unconfirmed requests whose emails were sent so long ago."""
    store.execute(CROWD, {"now": own.advance("PT0S"), "number": number, "mailed": mailed})


def shown(noc: Operator) -> list[str]:
    rows = noc.get("/board").json()["rows"]
    return [row["what"] for row in rows if row["kind"] == "subscriptions"]


@pytest.mark.slow
def test_one_more_than_ten_thousand_takes_the_place_of_the_oldest(
    own: Service, store: Store, noc: Operator
) -> None:
    crowd(own, store, MAX_WAITING, "2 hours")

    assert len(shown(noc)) == 1
    assert "10,000 are unconfirmed" in shown(noc)[0]
    subscribed(own, reader(own), someone())

    assert store.execute(OLDEST).rowcount == 0
    assert store.execute(OF_CROWD).rowcount == MAX_WAITING - 1
    assert shown(noc) == []


def test_emails_beyond_those_of_an_hour_wait_and_operators_see_it(
    own: Service, store: Store, noc: Operator
) -> None:
    crowd(own, store, MAX_CONFIRMATIONS_AN_HOUR - 1, "1 minute")
    first, second, browser = someone(), someone(), reader(own)
    for email in (first, second):
        assert browser.post(ASK, {"email": email, "fip": ""}).status_code == 202
    link_to(own, first)

    assert shown(noc) == []
    own.advance("PT11M")
    assert [row.partition(" (")[0][-3:] for row in shown(noc)] == [": 1"]
    assert emails_to(own, second) == []

    own.advance("PT1H")
    assert link_to(own, second)
