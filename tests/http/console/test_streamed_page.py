"""A page is sent as far as its title while its figures are read; what fails then is shown in it."""

import re
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import LiteralString

import psycopg
import pytest
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.service import Service

from mudra.storage.database.embedded.server import embedded_server

FIGURES = "Missing reports"
"""What the health page of an AA says behind its title, and what it reads of `metrics_refused`."""


@pytest.fixture(scope="module")
def aa(service: Service) -> Member:
    return new_member(service, "AA")


@pytest.fixture(scope="module")
def own_health(aa: Member) -> str:
    return f"/console/entity/{aa.entity_id}/health"


@pytest.fixture(scope="module")
def signed_in(service: Service, aa: Member) -> Reader:
    browser = reader(service)
    assert browser.sign_in(aa.email).status_code == 303
    return browser


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return new_operator(service, "health")


@contextmanager
def figures_out_of_reach(service: Service) -> Iterator[None]:
    with embedded_server(service.data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        connection.execute("LOCK TABLE metrics_refused IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


@contextmanager
def figures_that_cannot_be_read(service: Service, aa: Member) -> Iterator[None]:
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        connection.execute(
            "INSERT INTO metrics_refused (aa_id, at, total, findings)"
            " VALUES (%s, now() + interval '9 years', 1, '[{}]')",
            [aa.entity_id],
        )
        yield
        connection.execute("DELETE FROM metrics_refused WHERE aa_id = %s", [aa.entity_id])


def test_title_and_menu_are_there_before_the_figures(
    service: Service, signed_in: Reader, own_health: str
) -> None:
    with (
        figures_out_of_reach(service),
        signed_in.client.stream("GET", service.root + own_health) as answer,
    ):
        parts = answer.iter_text()
        first = next(parts)
        rest = "".join(parts)

    assert answer.status_code == 200
    assert first.startswith("<!doctype html>")
    assert "Your calls and reports" in first
    assert 'aria-current="page">Health' in first
    assert "Out of reach for the moment" in rest
    assert rest.count("</html>") == 1
    again = signed_in.get(own_health).text
    assert FIGURES in again
    assert "Out of reach" not in again


def test_who_leaves_early_costs_no_connection(
    service: Service, signed_in: Reader, own_health: str
) -> None:
    waiting = (
        "SELECT pid FROM pg_locks WHERE relation = 'metrics_refused'::regclass AND NOT granted"
    )
    at_rest = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'idle'"
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
    ):
        found: list[int] = []

        def one_waits() -> bool:
            found[:] = pids(watching, waiting)
            return bool(found)

        with (
            figures_out_of_reach(service),
            signed_in.client.stream("GET", service.root + own_health) as answer,
        ):
            next(answer.iter_raw())
            service.wait_until(one_waits)

        # The connection of the reader is closed; that of the database goes back to its pool.
        service.wait_until(lambda: watching.execute(at_rest, [found[-1]]).fetchone() == (1,))


def test_what_follows_the_title_takes_a_turn_of_its_own(
    service: Service, signed_in: Reader, own_health: str
) -> None:
    """As many as a worker makes at a time keep all turns: another page waits (decision 0010)."""
    waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'metrics_refused'::regclass"
    with (
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
        figures_out_of_reach(service),
        ExitStack() as opened,
        ThreadPoolExecutor(5) as together,
    ):
        begun = [
            opened.enter_context(signed_in.client.stream("GET", service.root + own_health))
            for _ in range(4)
        ]
        service.wait_until(lambda: watching.execute(waiting).fetchone() == (5,))  # and the holder
        ends = [together.submit(answer.read) for answer in begun]
        other = together.submit(signed_in.get, "/console/account")
        first, _ = wait([other, *ends], return_when=FIRST_COMPLETED)

        assert other not in first
        assert other.result().status_code == 200


def pids(watching: psycopg.Connection[tuple[int]], query: LiteralString) -> list[int]:
    return [pid for (pid,) in watching.execute(query).fetchall()]


def test_a_fault_behind_the_title_is_reported_in_the_page_with_its_transaction(
    service: Service, signed_in: Reader, aa: Member, own_health: str
) -> None:
    with figures_that_cannot_be_read(service, aa):
        shown = signed_in.get(own_health)
        swapped = signed_in.get(own_health, **{"HX-Request": "true"})
        exported = signed_in.get(f"{own_health}?export=refused")

    assert "That went wrong" in shown.text
    assert FIGURES not in shown.text
    assert "ValidationError" not in shown.text
    assert (swapped.status_code, exported.status_code) == (500, 500)
    for page in (shown, swapped):
        assert 'id="menu"' in page.text
        assert "report the reference below" in page.text
        assert re.search(r"Reference: <code>[0-9a-f-]{36}</code>", page.text)


def test_a_page_in_parts_keeps_its_headers_and_answers_head(
    signed_in: Reader, aa: Member, own_health: str
) -> None:
    in_parts = signed_in.get(own_health)
    in_one = signed_in.get(f"/console/entity/{aa.entity_id}")
    bare = signed_in.client.head(str(in_parts.url))

    def kept(headers: object) -> set[tuple[str, str]]:
        passing = {"date", "content-length", "transfer-encoding"}
        return {(k, v) for k, v in dict(headers).items() if k not in passing}  # type: ignore[call-overload]

    assert "content-length" not in in_parts.headers
    assert kept(in_parts.headers) == kept(in_one.headers) == kept(bare.headers)
    assert (bare.status_code, bare.content) == (200, b"")


def test_what_is_refused_or_is_a_file_keeps_its_status(
    service: Service, signed_in: Reader, operator: Operator, own_health: str
) -> None:
    staff = reader(service)
    assert staff.sign_in(operator.email).status_code == 303

    assert staff.get("/console/operator/health?range=never").status_code == 400
    assert staff.get("/console/operator/health/api/nothing").status_code == 400
    assert staff.get("/console/operator/mails").status_code == 403
    assert signed_in.get("/console/operator/health").status_code == 403
    assert reader(service).get(own_health).status_code == 303
    exported = signed_in.get(f"{own_health}?export=gaps")
    assert exported.headers["content-type"].startswith("text/csv")
    assert "content-length" in exported.headers
