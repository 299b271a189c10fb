"""64 at once of each page and call: they wait for their turn, none fails.

The pages are those of `tools.demonstration`, which a test holds against the route table.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx2
import pytest
from tests.support.depth import with_every_change
from tests.support.hostile.simultaneous import asked_at_once
from tests.support.members import new_member
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.process import running_service
from tests.support.registry.registry_commands import payload, send
from tests.support.service import Service
from tools.demonstration import Page, member_pages, operator_pages, public_pages

AT_ONCE = 64
CALLS = ("/readyz", "/iam/.well-known/jwks.json", "/schema/openapi.json")
FILES = (
    "/status/network.json",
    "/status/network.csv",
    "/status/feed.atom",
    "/status/feed.rss",
    "/status/badge.svg",
)
KINDS = ("AA", "FIP", "FIU")
SHORT = {"status", "/iam/.well-known/jwks.json"}
"""The page and the call of every run; all others are asked for in the slow one."""


def pages(ids: Mapping[str, str], emails: Mapping[str, str]) -> list[Page]:
    """Every page, with these members."""
    return [
        *public_pages(ids["FIP"]),
        *(one for kind in KINDS for one in member_pages(ids[kind], emails[kind])),
        *operator_pages(emails["operator"], ids["AA"], ids["FIP"], ""),
    ]


NAMES = [
    one.name
    for one in pages({kind: f"A-{kind}" for kind in KINDS}, dict.fromkeys([*KINDS, "operator"], ""))
]


@dataclass(frozen=True)
class Network:
    """A service with two workers, its pages, and the cookies of who may see them."""

    service: Service
    pages: Mapping[str, Page]
    cookies: Mapping[str, str]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    data_dir = tmp_path_factory.mktemp("many") / "data"
    with running_service(data_dir, "--workers", "2", keeps_store=True) as service:
        fip, fiu, aa = new_member(service), new_member(service, "FIU"), pushing_aa(service)
        assert aa.push(aa.requests()).status_code == 200
        send(fip, payload(fip))  # which waits for approval
        emails = {
            "AA": aa.admin,
            "FIP": fip.email,
            "FIU": fiu.email,
            "operator": active_operator(service),
        }
        ids = {"AA": aa.aa_id, "FIP": fip.entity_id, "FIU": fiu.entity_id}
        own = f"/status/fip/{fip.entity_id}"
        service.wait_until(lambda: httpx2.get(service.root + own).status_code == 200)
        found = {one.name: one for one in pages(ids, emails)}
        yield Network(service, found, {email: cookie(service, email) for email in emails.values()})


def cookie(service: Service, email: str) -> str:
    browser = reader(service)
    assert browser.sign_in(email).status_code == 303
    return "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())


def asked(network: Network, path: str, cookie: str = "") -> list[httpx2.Response]:
    headers = {"Cookie": cookie} if cookie else {}
    return asked_at_once(network.service, AT_ONCE, f"GET {path}", headers)


@pytest.mark.parametrize("name", with_every_change(SHORT, NAMES))
def test_none_of_many_pages_fails(network: Network, name: str) -> None:
    page = network.pages[name]

    answers = asked(network, page.path, network.cookies.get(page.email, ""))

    assert Counter(answer.status_code for answer in answers) == {200: AT_ONCE}
    # What fails behind the title of a page is shown in it, with status 200.
    assert [one.text for one in answers if "Out of reach for the moment" in one.text] == []


@pytest.mark.parametrize("path", with_every_change(SHORT, [*CALLS, *FILES]))
def test_none_of_many_calls_fails(network: Network, path: str) -> None:
    statuses = Counter(answer.status_code for answer in asked(network, path))

    assert statuses == {200: AT_ONCE}
