"""Odd texts in the address and the query of whatever can be read: never a fault of ours."""

import re
from collections import Counter
from urllib.parse import quote

import httpx2
import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from tests.support.members import Member
from tests.support.people.console import reader
from tests.support.people.operators import active_operator, with_token
from tests.support.service import Service

from mudra.console.pages.public.status.status_pages import public_status_pages
from mudra.console.routes import console_pages
from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.server_protocol.connection_limits import framing_refused
from mudra.settings.settings import Settings

ODD = (
    "", "\0", "a\0b", "\u202e", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "%", "%00", "'\"<>&;--", "..", "a/../b", "a" * 300, "9" * 40, "-1", "1e400", "NaN", "null",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-02-30", "2026-03-04T10:20:00+99:99",
    "P999999999Y", "\r\nX: y", "\ufffe", "{}", "[1]", "true", "\u0661",
)  # fmt: skip  # a list of texts
RAW = ("%ff", "%80%80", "%ed%a0%80", "%c0%af")
"""Bytes that are no UTF-8."""
NAMES = (
    "after", "before", "from", "to", "at", "page", "limit", "sort", "words", "q", "state", "fip",
    "aa", "entityId", "userId", "event", "since", "until", "window", "type", "api", "step", "days",
    "txnId", "receiptId", "id", "cursor", "code", "scope", "format", "range", "told", "export",
    "status", "rows", "open", "kind", "incident", "fresh", "decided", "alone", "again", "v",
)  # fmt: skip  # a list of names


def readable() -> list[str]:
    """The addresses that are read: of the interfaces, the console and the public pages."""
    litestar = build_routes(
        RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers
    ).litestar
    routers = [console_pages(Given()), public_status_pages(Given(), Given()), litestar]
    return sorted(
        {
            route.path
            for router in routers
            for route in router.routes
            if isinstance(route, HTTPRoute)
            for handler in route.route_handlers
            if isinstance(handler, HTTPRouteHandler) and "GET" in handler.http_methods
        }
    )


def targets(path: str) -> list[str]:
    """A route with each odd text in each of its places, then in a query."""
    texts = [*(quote(odd, safe="") for odd in ODD), *RAW]
    if "{" in path:
        return [re.sub(r"\{.*?\}", lambda _, text=text: text, path) for text in texts]
    every = "&".join(f"{name}={{0}}" for name in NAMES)
    return [f"{path}?{every.format(text)}" for text in texts]


ODD_REQUESTS = [
    ("GET", "/nowhere", {"Host": "x:99999"}, 400),
    ("GET", "/console/account", {"Host": "["}, 400),
    ("GET", "/console/account", {"HX-Request": "true", "HX-Current-URL": "http://["}, 204),
    ("POST", "/console/sign-in", {"Origin": "http://["}, 403),
    ("GET", f"/iam/static/{'a' * 260}.css", {}, 404),
    ("GET", f"/docs/{'a' * 260}.html", {}, 404),
    ("GET", "/docs/%00.html", {}, 404),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), ODD_REQUESTS)
def test_an_odd_header_or_name_is_no_fault(
    service: Service, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = service.client().request(method, service.root + path, headers=headers)

    assert answer.status_code == status, answer.text[-300:]


@pytest.mark.parametrize("entity_id", ["%E0%A4%A8", "%0D%0AX%3A%20y", "%3F", "FIP-1~@"])
def test_the_address_of_a_form_leads_to_its_page_whatever_it_names(
    service: Service, entity_id: str
) -> None:
    answer = service.client().get(f"{service.root}/console/entity/{entity_id}/secret/show")

    assert answer.status_code == 303
    assert answer.headers["location"] == f"/console/entity/{entity_id}/secret"


def test_a_token_that_no_one_can_hold_is_not_found(service: Service, member: Member) -> None:
    browser = reader(service)
    browser.sign_in(member.email)

    sent = browser.act("/console/account", "/console/account/token", jti="x")

    assert sent.headers["location"].endswith("told=nothing")


HOSTS = (
    b"mudra.example", b"mudra.example:", b"mudra_1:8080", b"127.0.0.1:65535", b"[::1]", b"",
    b"[2001:db8::7]:443", b"[fe80::1%25eth0]:8080", b"[::ffff:192.0.2.1]",
)  # fmt: skip  # a list of texts
NO_HOSTS = (
    b"x:99999", b"x:65536", b"x:-1", b"x:1:2", b"x:8o", b"[", b"[::1", b"::1", b"[1]", b"[::g]",
    b"a b", b"a/b", b"user@x", b"a?b", b"a#b", b"a\\b", b"\xe0\xa4\xa8",
)  # fmt: skip  # a list of texts


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_an_address_can_name_passes(host: bytes) -> None:
    assert framing_refused([(b"host", host)], "1.1") is None


@pytest.mark.parametrize("host", NO_HOSTS)
def test_a_host_that_no_address_can_name_is_refused(host: bytes) -> None:
    refused = framing_refused([(b"host", host)], "1.1")

    assert refused is not None
    assert refused.status == 400


@pytest.mark.slow
def test_no_odd_text_in_an_address_or_query_is_a_fault(service: Service, member: Member) -> None:
    email = active_operator(service)
    operator, stranger = reader(service), service.client()
    assert operator.sign_in(email).status_code == 303
    operator.client.headers.update(with_token(service, email).headers)
    clients = (operator.client, stranger)
    seen: Counter[int] = Counter()
    faults: list[str] = []
    for path in readable():
        for target in targets(path):
            for client in clients if path.startswith("/status") else clients[:1]:
                try:
                    answer = client.get(service.root + target)
                except httpx2.RemoteProtocolError as error:
                    faults.append(f"{target}: {error}")
                    continue
                seen[answer.status_code] += 1
                if answer.status_code >= 500:
                    faults.append(f"{answer.status_code} {target}: {answer.text[-300:]}")
    print(seen)
    assert not faults, "\n".join(faults[:40])
