"""Many entries, and senders of anything at all."""

import copy
import json
import random
import time

import httpx
from tests.http.test_registry_service import Registry, payload_of
from tests.properties.test_registry_properties import places, replaced
from tests.support.registry_payloads import fip
from tests.support.service import Service, new_member

from mudra.registry.directory import set_hash
from mudra.registry.entry import digest

ODD = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x" * 5000,
    "\u202e",
    "=?",
    [],
    [[]],
    {},
    {"d": "x"},
    "v1:",
)


def test_six_hundred_entries_are_imported_resumed_and_mirrored(service_of_two: Service, tmp_path):
    reader = Registry(new_member(service_of_two, "AA"))
    file = tmp_path / "directory.json"
    payloads = [fip(40_000 + number) for number in range(600)]
    wrong = copy.deepcopy(payloads[:1])
    wrong[0]["entityinfo"]["id"] = "not an id"
    file.write_text(json.dumps(payloads[:200] + wrong))

    dry = service_of_two.cli("registry", "import", str(file), "--dry-run", "--json", check=False)
    part = service_of_two.cli("registry", "import", str(file), "--json", check=False)
    file.write_text(json.dumps(payloads))
    started = time.monotonic()
    whole = service_of_two.cli("registry", "import", str(file), "--json")
    seconds = time.monotonic() - started

    def results(done):
        found = [one["result"] for one in json.loads(done.stdout)]
        return {name: found.count(name) for name in set(found)}

    assert results(dry) == {"good": 200, "refused": 1}
    assert results(part) == {"live": 200, "refused": 1}
    assert results(whole) == {"unchanged": 200, "live": 400}
    assert seconds < 60
    print(f"600 entries, 400 of them new: {seconds:.1f} s")

    page = reader.get("/changes?since=0").json()
    lines = [
        (
            one["type"],
            one["id"],
            digest(json.dumps(one["entry"], separators=(",", ":"), ensure_ascii=False).encode()),
        )
        for one in page["changes"]
    ]
    assert len(lines) >= 600
    assert set_hash(lines) == page["hash"]
    again = reader.get(f"/changes?since={page['upto']}").json()
    assert (again["changes"], again["hash"]) == ([], page["hash"])


def test_no_submission_whatsoever_is_a_fault(service_of_two: Service):
    chance = random.Random(5)
    for kind in ("FIP", "FIU", "AA"):
        registry = Registry(new_member(service_of_two, kind))
        payload = payload_of(registry.member)
        for _ in range(25):
            odd = replaced(payload, chance.choice(places(payload)), chance.choice(ODD))
            answer = httpx.post(
                f"{registry.root}/entityInfo/{kind}",
                json=odd,
                headers=registry.entity,
                timeout=30,
            )
            assert answer.status_code < 500, (odd, answer.text)
            if answer.status_code != 200:
                assert answer.json()["errorMsg"]


def test_the_thirty_first_write_of_an_hour_waits(service_of_two: Service):
    registry = Registry(new_member(service_of_two, "FIP"))
    with httpx.Client(timeout=30) as client:
        answers = [
            client.post(f"{registry.root}/entityInfo/FIP", json={}, headers=registry.entity)
            for _ in range(31)
        ]
    assert [one.status_code for one in answers] == [400] * 30 + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 120
