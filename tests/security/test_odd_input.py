"""Odd texts in the address and the query of whatever can be read: never a fault of ours (I9, L6)."""

import re
from collections import Counter
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from tests.support.people.console import reader
from tests.support.people.operators import active_operator, with_token
from tests.support.service import Member, Service

from mudra.bootstrap.config import Settings
from mudra.console.pages.public.status import public_status_pages
from mudra.console.routes import console_pages
from mudra.http.app import _litestar

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
    service = SimpleNamespace(
        settings=Settings(), time_machine=object(), clock=None, on_new_states=lambda _: None
    )
    litestar = _litestar(service, ())  # type: ignore[arg-type]  # only its route table is looked at
    routers = [console_pages(service), public_status_pages(SimpleNamespace(), service), litestar]  # type: ignore[arg-type]
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
                except httpx.RemoteProtocolError as error:
                    faults.append(f"{target}: {error}")
                    continue
                seen[answer.status_code] += 1
                if answer.status_code >= 500:
                    faults.append(f"{answer.status_code} {target}: {answer.text[-300:]}")
    print(seen)
    assert not faults, "\n".join(faults[:40])
