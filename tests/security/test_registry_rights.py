"""Who may do what in the registry: every call by every caller on every object."""

import zlib
from dataclasses import dataclass

import httpx2
import pytest
from tests.security.test_who_may_do_what import routes
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.people.operators import new_operator
from tests.support.registry.registry_members import Registry, live_entry
from tests.support.registry.registry_payloads import fip
from tests.support.service import Service

OBJECTS = ("A", "B", "missing")
CALLERS = (
    "nobody",
    "garbage",
    "admin A",
    "admin B",
    "entity A",
    "entity B",
    "AA",
    "FIU",
    "operator registry",
    "operator health",
)
ENTRIES, ENTRY = (
    "/cr/v2/entityInfo/{entity_type:str}",
    ("/cr/v2/entityInfo/{entity_type:str}/{entity_id:str}"),
)
LINT = "/cr/v2/lint/{entity_type:str}"
CHANGES = "/cr/v2/changes"

# What each caller gets for A, B and a missing entry; who is not named gets 401 for each.
EXPECTED = {
    # The same content under the same `txnid` as before is answered as the first time.
    ("POST", ENTRIES): {
        "admin A": (200, 401, 401),
        "entity A": (200, 401, 401),
        "admin B": (401, 200, 401),
        "entity B": (401, 200, 401),
        "operator registry": (200, 200, 200),
    },
    ("PUT", ENTRIES): {
        "admin A": (200, 401, 401),
        "entity A": (200, 401, 401),
        "admin B": (401, 200, 401),
        "entity B": (401, 200, 401),
        "operator registry": (200, 200, 404),
    },
    # It changes nothing: what an operator asks about an entry of no one is answered like any other.
    ("POST", LINT): {
        "admin A": (200, 401, 401),
        "entity A": (200, 401, 401),
        "admin B": (401, 200, 401),
        "entity B": (401, 200, 401),
        "operator registry": (200, 200, 200),
    },
    ("PUT", ENTRY): {
        "admin A": (200, 401, 401),
        "entity A": (200, 401, 401),
        "admin B": (401, 200, 401),
        "entity B": (401, 200, 401),
        "operator registry": (200, 200, 404),
    },
    # Without a reason: who may retire learns what is missing. An entity may not end itself.
    ("DELETE", ENTRY): {
        "admin A": (400, 401, 401),
        "admin B": (401, 400, 401),
        "operator registry": (400, 400, 404),
    },
    # A and B are FIPs: seen by AA and FIU and by themselves, never by each other.
    ("GET", ENTRY): {
        "entity A": (200, 404, 404),
        "entity B": (404, 200, 404),
        "AA": (200, 200, 404),
        "FIU": (200, 200, 404),
    },
}
SEEN_IN_LISTS = {
    "entity A": {"A"},
    "entity B": {"B"},
    "AA": {"A", "B"},
    "FIU": {"A", "B"},
}


@dataclass(frozen=True)
class Cast:
    root: str
    headers: dict[str, dict[str, str]]
    payloads: dict[str, dict]

    def send(self, call: str, path: str, caller: str, which: str) -> httpx2.Response:
        # No one's entry is another one for each caller and call: an operator's POST makes it.
        payload = self.payloads[which] if which in self.payloads else nobodys(f"{call}-{caller}")
        address = path.replace("{entity_type:str}", "FIP").replace(
            "{entity_id:str}", payload["entityinfo"]["id"]
        )
        body = {"json": payload} if call in {"POST", "PUT"} else {}
        return httpx2.request(
            call,
            self.root + address,
            headers=self.headers[caller],
            verify=NO_TLS,
            **body,
        )

    def ids(self, text: str) -> set[str]:
        return {
            which
            for which in self.payloads
            if f'"id":"{self.payloads[which]["entityinfo"]["id"]}"' in text
        }


def nobodys(name: str) -> dict:
    payload = fip(zlib.crc32(name.encode()), id=f"NONE-{name.replace(' ', '-')}")
    payload["requester"]["id"] = payload["entityinfo"]["id"]
    return payload


@pytest.fixture(scope="module")
def cast(service: Service) -> Cast:
    (a, of_a), (b, of_b) = live_entry(service), live_entry(service)
    headers = {
        "nobody": {},
        "garbage": {"Authorization": "Bearer garbage"},
        "admin A": a.member.bearer(),
        "admin B": b.member.bearer(),
        "entity A": a.entity,
        "entity B": b.entity,
        "AA": Registry(new_member(service, "AA")).entity,
        "FIU": Registry(new_member(service, "FIU")).entity,
        "operator registry": new_operator(service, "registry").headers,
        "operator health": new_operator(service, "health").headers,
    }
    return Cast(service.root, headers, {"A": of_a, "B": of_b})


def test_every_route_of_the_registry_is_in_the_matrix() -> None:
    named = {path for _, path in EXPECTED} | {CHANGES}

    assert {path for path in routes() if path.startswith("/cr/")} == named


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(
    ("call", "path"), [*EXPECTED], ids=lambda value: value.removeprefix("/cr/v2/")
)
def test_each_call_is_for_whom_it_is(cast: Cast, call: str, path: str, caller: str) -> None:
    answers = [cast.send(call, path, caller, which) for which in OBJECTS]

    expected = EXPECTED[call, path].get(caller, (401, 401, 401))
    assert tuple(one.status_code for one in answers) == expected, [one.text for one in answers]
    assert all("errorCode" in one.json() for one in answers if one.status_code != 200)


@pytest.mark.parametrize("caller", CALLERS)
def test_lists_and_changes_show_what_the_caller_may_see(cast: Cast, caller: str) -> None:
    listed = cast.send("GET", ENTRIES, caller, "A")
    changes = cast.send("GET", f"{CHANGES}?since=0", caller, "A")

    if caller not in SEEN_IN_LISTS:
        assert (listed.status_code, changes.status_code) == (401, 401)
        return
    assert cast.ids(listed.text) == SEEN_IN_LISTS[caller]
    assert cast.ids(changes.text) == SEEN_IN_LISTS[caller]
