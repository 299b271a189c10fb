"""Limits of alarms hold where several at once would each be the last that is allowed."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

import httpx2
import psycopg
import pytest
from tests.support.alarm_network import as_entity
from tests.support.members import Member, new_member
from tests.support.people.console import SAME_ORIGIN, reader
from tests.support.service import Service
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.server import embedded_server

MAX_OWN = 10
MAX_FIPS = 500
MAX_OF_A_MEMBER = 5
MAX_TESTS = 20

METRICS = "/metrics/perf/v1"
AT_ONCE = 3
ONE_OF_THEM = [200, 409, 409]
WAITING = """
SELECT DISTINCT pid FROM pg_locks
WHERE NOT granted AND (locktype = 'advisory' OR relation = %s::regclass)
"""
FOLLOWED = "INSERT INTO followed_fip SELECT %s, 'FIP-' || n FROM generate_series(1, %s) AS n"
Ask = Callable[[int], httpx2.Response]
AtOnce = Callable[[str, Ask], list[int]]


@pytest.fixture
def at_once(service: Service) -> Iterator[AtOnce]:
    """Asks so often at once: another session lets none write before all of them have begun."""
    with (
        ThreadPoolExecutor(AT_ONCE) as threads,
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
        psycopg.connect(conninfo) as other,
    ):

        def begun(ask: Ask) -> list[Future[httpx2.Response]]:
            return [threads.submit(ask, number) for number in range(AT_ONCE)]

        def all_wait(table: str, asked: list[Future[httpx2.Response]]) -> bool:
            """Whether they do; False once all have given up, which is after 1.5 seconds."""

            def known() -> bool:
                return waiting() or all(one.done() for one in asked)

            def waiting() -> bool:
                return watching.execute(WAITING, [table]).rowcount >= AT_ONCE

            until(known, every_s=0.02)
            return waiting()

        def run(table: str, ask: Ask) -> list[int]:
            other.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
            while not all_wait(table, asked := begun(ask)):
                # A busy machine: the first gave up before the last began, and none has written.
                assert {one.result().status_code for one in asked} == {503}
            other.rollback()
            return sorted(one.result(PATIENCE_S).status_code for one in asked)

        yield run


def test_the_last_webhook_of_a_member_is_added_once(member: Member, at_once: AtOnce) -> None:
    own, headers = f"{member.service.root}{METRICS}/webhooks", as_entity(member)

    def add(number: int) -> httpx2.Response:
        url = f"https://alarms.example/{number}"
        return member.client.post(own, json={"url": url}, headers=headers)

    others = range(AT_ONCE, AT_ONCE + MAX_OF_A_MEMBER - 1)  # one address twice is refused at once
    assert {add(number).status_code for number in others} == {200}

    assert at_once("health_webhook", add) == ONE_OF_THEM
    listed = member.client.get(own, headers=headers).json()["webhooks"]
    assert len(listed) == MAX_OF_A_MEMBER


def test_the_last_test_message_of_an_hour_is_sent_once(member: Member, at_once: AtOnce) -> None:
    own, headers = f"{member.service.root}{METRICS}/webhooks", as_entity(member)

    def add(number: int) -> str:
        sent = {"url": f"https://alarms.example/{number}"}
        answer = member.client.post(own, json=sent, headers=headers)
        return f"{own}/{answer.json()['webhook']['webhookId']}"

    def post(path: str) -> httpx2.Response:
        return member.client.post(path, json={}, headers=headers)

    for _ in range(MAX_TESTS - 1):
        hook = add(0)
        assert post(f"{hook}/test").status_code == 200
        assert post(f"{hook}/remove").status_code == 200
    hooks = [add(number) for number in range(AT_ONCE)]

    answers = at_once("registry_write", lambda number: post(f"{hooks[number]}/test"))

    assert answers == [200, 429, 429]


def test_the_only_webhook_of_a_person_is_added_once(member: Member, at_once: AtOnce) -> None:
    headers, sent = member.bearer(), {"url": "https://alarms.example/mine"}

    def add(_: int) -> httpx2.Response:
        return member.client.post("/v1/user/alarm/webhooks", json=sent, headers=headers)

    assert at_once("health_webhook", add) == ONE_OF_THEM


def test_the_only_webhook_of_a_person_is_added_once_on_the_page(
    member: Member, at_once: AtOnce
) -> None:
    browser, path = reader(member.service), "/console/account/webhooks"
    browser.sign_in(member.email)
    sent = {
        "url": "https://alarms.example/mine",
        "format": "standard",
        "csrf_token": browser.word(path),
    }

    def add(_: int) -> httpx2.Response:
        return browser.client.post(browser.root + path, data=sent, headers=SAME_ORIGIN)

    assert at_once("health_webhook", add) == ONE_OF_THEM


def test_the_last_maintenance_of_a_member_is_announced_once(
    member: Member, at_once: AtOnce
) -> None:
    own, headers = f"{member.service.root}{METRICS}/maintenance", as_entity(member)
    now = datetime.fromisoformat(member.read().json()["timestamp"])
    sent = {"ends": (now + timedelta(hours=2)).isoformat(), "reason": "new disks"}

    def announce(_: int) -> httpx2.Response:
        return member.client.post(own, json=sent, headers=headers)

    assert {announce(number).status_code for number in range(1, MAX_OWN)} == {200}

    assert at_once("health_silence", announce) == ONE_OF_THEM


def test_the_last_fip_is_followed_once(service: Service, at_once: AtOnce) -> None:
    fiu, banks = new_member(service, "FIU"), [new_member(service) for _ in range(AT_ONCE)]
    own, headers = f"{service.root}{METRICS}/followed-fips", as_entity(fiu)
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as store,
    ):
        store.execute(FOLLOWED, [fiu.entity_id, MAX_FIPS - 1])

    def follow(number: int) -> httpx2.Response:
        return fiu.client.put(f"{own}/{banks[number].entity_id}", headers=headers)

    assert at_once("followed_fip", follow) == ONE_OF_THEM
    assert len(fiu.client.get(own, headers=headers).json()["fips"]) == MAX_FIPS
