"""The flows in ARCHITECTURE.md name the files that a request really passes, in order.

Each request runs in this process with a profiler in its loop and in its threads. What every
request passes (the framework around a handler) is named once, above the flows, and so is what
several pass, and what runs next to requests: caches that are checked, batches that are written later.
"""

import asyncio
import functools
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.http.test_one_connection_per_request import (
    AA,
    FIP,
    LOGIN,
    Network,
    store,
)
from tests.support.in_process import in_process
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.registry.registry_payloads import fip, weakness

import mudra
from mudra.metrics.payload.catalogue import window_start

__all__ = ["store"]

SOURCE = Path(mudra.__file__).parent
ARCHITECTURE = Path("ARCHITECTURE.md").read_text(encoding="utf-8")
FORMER = {
    ("entity token",): 27,
    ("secret reset",): 28,
    ("metrics push", "picture of health"): 54,
}
EVERY = "What every request passes"
SEVERAL = (
    "What callers with a token pass",
    "What a body or a page passes",
    "What an email to a member's admins passes",
    "What who signs in or is known by a secret passes",
    "What metrics as columns pass",
    "What runs next to requests",
)
PUT = {"__init__", "<lambda>", "<genexpr>"}
"""Code that only puts parts together."""
_FILE = re.compile(r"`([a-z_/]+\.py)`")


def section(title: str) -> str:
    found = re.search(
        rf"^### {re.escape(title)}\n(.*?)(?=^##)", ARCHITECTURE, re.DOTALL | re.MULTILINE
    )
    return found[1] if found else ""


def listed(title: str) -> list[str]:
    return _FILE.findall(section(title))


@pytest.fixture(scope="module")
def network(store: tuple[Any, ...]) -> Iterator[Network]:
    with in_process(*store, connections=2) as served:
        yield Network(served)


def passed(network: Network, request: Callable[[], httpx2.Response]) -> list[str]:
    """The files of Mudra that a request runs code of, in the order of their first call."""
    found: dict[str, None] = {}

    def note(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(str(SOURCE))
            and code.co_name not in PUT
            and code.co_filename.endswith(".py")
        ):
            found.setdefault(str(Path(code.co_filename).relative_to(SOURCE)))

    async def profile(hook: Any) -> None:
        sys.setprofile(hook)
        threading.setprofile(hook)
        # A thread keeps the hook that was set when it began, so the request gets new ones.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())

    weakness.cache_clear()  # a service has checked no key before
    network.served.do(profile(note))
    try:
        response = request()
    finally:
        network.served.do(profile(None))
    assert response.is_success, response.text
    return [name for name in found if not name.startswith(("bootstrap/", "settings/"))]


def entity_token(network: Network) -> Callable[[], httpx2.Response]:
    admin = network.served.client(network.admin)
    secret = admin.post("/iam/v1/entity/secret/read", json={"entityId": FIP}).json()["secret"]
    form = {"id": FIP, "secret": secret}
    client = network.served.client()
    client.post("/iam/v1/entity/token/generate", data=form)
    return lambda: client.post("/iam/v1/entity/token/generate", data=form)


def secret_reset(network: Network) -> Callable[[], httpx2.Response]:
    admin = network.served.client(network.admin)
    body = {"entityId": FIP, "secretExpiryDays": 90, "oldSecretValidity": 0}
    return lambda: admin.post("/iam/v1/entity/secret/reset", json=body)


def push(network: Network) -> Callable[[], httpx2.Response]:
    entity = network.served.client(network.entity)
    start = window_start(datetime.now(UTC) - timedelta(hours=1))
    payload = as_value(request_metrics(aa_id=AA, start=start))

    return lambda: entity.post("/metrics/perf/v1/push", json=payload)


def picture(network: Network) -> Callable[[], httpx2.Response]:
    push(network)()
    operator = network.served.client(network.operator)
    return lambda: operator.get("/operator/v1/health/fips")


def registration(network: Network) -> Callable[[], httpx2.Response]:
    operator = network.served.client(network.operator)
    return lambda: operator.put(f"/cr/v2/entityInfo/FIP/{FIP}", json=fip(2, id=FIP))


def directory(network: Network) -> Callable[[], httpx2.Response]:
    registration(network)()
    entity = network.served.client(network.entity)
    return lambda: entity.get("/cr/v2/entityInfo/FIP")


def sign_in(network: Network) -> Callable[[], httpx2.Response]:
    return lambda: network.served.client().post("/iam/v1/user/token/generate", data=LOGIN)


FLOWS = {
    "entity token": entity_token,
    "secret reset": secret_reset,
    "metrics push": push,
    "picture of health": picture,
    "registration": registration,
    "directory": directory,
    "sign-in": sign_in,
}


@pytest.fixture(scope="module")
def files_of(network: Network) -> Callable[[str], frozenset[str]]:
    """Gives the files that the request of a flow passes; each request is made once."""
    return functools.cache(lambda title: frozenset(passed(network, FLOWS[title](network))))


@pytest.mark.parametrize("title", FLOWS)
def test_a_flow_names_the_files_that_its_request_passes(
    files_of: Callable[[str], frozenset[str]], title: str
) -> None:
    everywhere = {name for common in (EVERY, *SEVERAL) for name in listed(common)}

    files = files_of(title)

    flow = set(listed(title.capitalize()))
    assert files - everywhere <= flow
    # What is read from storage depends on what caches hold at this moment.
    assert {name for name in flow if not is_of_storage(name)} <= files


def test_what_every_request_passes_is_passed_by_more_than_half(
    files_of: Callable[[str], frozenset[str]],
) -> None:
    counts = Counter(name for title in FLOWS for name in files_of(title))

    fewer = {name for name in listed(EVERY) if counts[name] <= len(FLOWS) // 2}

    assert {name for name in fewer if not is_of_storage(name)} == set()


def is_of_storage(name: str) -> bool:
    return name.startswith("storage/") or name.endswith("_store.py")


@pytest.mark.parametrize("titles", FORMER)
def test_a_flow_passes_two_thirds_of_the_files_of_before_at_most(titles: tuple[str, ...]) -> None:
    files = {name for title in titles for name in listed(title.capitalize())}

    assert 0 < len(files) <= FORMER[titles] * 2 // 3


@pytest.mark.parametrize("title", SEVERAL[:-1])
def test_what_several_requests_pass_is_passed_by_two_at_least(
    files_of: Callable[[str], frozenset[str]], title: str
) -> None:
    counts = Counter(name for flow in FLOWS for name in files_of(flow))

    alone = {name for name in listed(title) if counts[name] < 2 and not is_of_storage(name)}

    assert alone == set()


def test_every_file_that_architecture_md_names_exists() -> None:
    named = [name for name in _FILE.findall(ARCHITECTURE) if "/" in name and "tests/" not in name]

    missing = [name for name in named if not (SOURCE / name).exists() and not Path(name).exists()]

    assert missing == []
