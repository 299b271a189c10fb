"""64 at once of each page and call: they wait for their turn, none fails (issue 17, point 13)."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest
from tests.support.hostile.simultaneous import crowd, together
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service, new_member, running_service

AT_ONCE = 64
PAGES = tuple(
    f"/console/operator/{page}"
    for page in (
        *("board", "members", "people", "approvals", "health", "incidents", "held-reports"),
        *("keys", "audit", "mails"),
    )
)
PUBLIC = ("/status", "/readyz", "/iam/.well-known/jwks.json", "/schema/openapi.json")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("many") / "data", keeps_store=True) as running:
        new_member(running, "FIP")
        pushing_aa(running)
        yield running


@pytest.fixture(scope="module")
def cookie(service: Service) -> str:
    operator = new_operator(service)
    browser = reader(service)
    browser.sign_in(operator.email)
    return "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())


SHORT = ("/console/operator/board", "/console/operator/audit", *PUBLIC)


@pytest.mark.parametrize(
    "path",
    [path if path in SHORT else pytest.param(path, marks=pytest.mark.slow) for path in PAGES]
    + list(PUBLIC),
)
def test_none_of_many_fails(service: Service, cookie: str, path: str) -> None:
    headers = {"Cookie": cookie} if path in PAGES else {}

    async def ask() -> list[httpx.Response]:
        async with crowd(service, AT_ONCE) as clients:
            return await together(
                clients, lambda client, _: client.get(service.root + path, headers=headers)
            )

    statuses = Counter(answer.status_code for answer in asyncio.run(ask()))

    assert statuses == {200: AT_ONCE}
