"""Many entries at once: imported on a bare data directory and next to a service, and back out."""

import copy
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.members import new_member
from tests.support.process import running_service
from tests.support.registry.registry_members import Registry
from tests.support.registry.registry_payloads import fip, fiu, older
from tests.support.service import Service

from mudra.registry.directory.directory import set_hash
from mudra.registry.payload.entry import digest
from mudra.storage.database.embedded.server import embedded_server

ENTRIES = 24
BEFORE = 12
"""Brought in by an import that did not come to its end."""


def results(done) -> Counter:
    return Counter(one["result"] for one in json.loads(done.stdout))


def canonical(entry) -> bytes:
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Service:
    """A data directory whose service was started once and stopped."""
    with running_service(tmp_path_factory.mktemp("bulk") / "data") as running:
        pass
    return running


@pytest.fixture(scope="module")
def kept(stopped: Service) -> Iterator[Service]:
    """The same with a server of the database that runs between its commands."""
    with embedded_server(stopped.data_dir):
        yield stopped


def test_many_entries_are_imported_resumed_and_mirrored(service_of_two: Service, tmp_path):
    reader = Registry(new_member(service_of_two, "AA"))
    file = tmp_path / "directory.json"
    payloads = [fip(40_000 + number) for number in range(ENTRIES)]
    wrong = copy.deepcopy(payloads[0])
    wrong["entityinfo"]["id"] = "not an id"
    file.write_text(json.dumps([*payloads[:BEFORE], wrong, payloads[7]]))

    part = service_of_two.cli("registry", "import", str(file), "--json", check=False)
    file.write_text(json.dumps(payloads))
    started = time.monotonic()
    whole = service_of_two.cli("registry", "import", str(file), "--json")
    new = ENTRIES - BEFORE
    print(f"{ENTRIES} entries, {new} of them new: {time.monotonic() - started:.1f} s")

    assert (part.exit_code, whole.exit_code) == (1, 0)
    assert results(part) == {"live": BEFORE, "refused": 2}
    assert results(whole) == {"unchanged": BEFORE, "live": new}
    page = reader.get("/changes?since=0").json()
    lines = [(one["type"], one["id"], digest(canonical(one["entry"]))) for one in page["changes"]]
    assert {f"FIP-{40_000 + number}" for number in range(ENTRIES)} <= {one for _, one, _ in lines}
    assert set_hash(lines) == page["hash"]


def test_without_a_service_a_directory_goes_in_and_comes_out_the_same(stopped: Service, tmp_path):
    file, out, again = tmp_path / "in.json", tmp_path / "out.json", tmp_path / "again.json"
    payloads = [older(fip(number)) for number in range(4)] + [fiu(9)]
    file.write_text(json.dumps(payloads))

    def ours(directory):
        ids = [payload["entityinfo"]["id"] for payload in payloads]
        return [one["entityinfo"]["id"] for one in directory if one["entityinfo"]["id"] in ids]

    dry = stopped.cli("registry", "import", str(file), "--dry-run", "--json")
    nothing = stopped.cli("registry", "export")
    first = stopped.cli("registry", "import", str(file), "--json")
    stopped.cli("registry", "export", "--output", str(out))
    second = stopped.cli("registry", "import", str(out), "--json")
    stopped.cli("registry", "export", "--output", str(again))

    assert results(dry) == {"new": 5}
    assert not ours(json.loads(nothing.stdout))
    assert (results(first), results(second)) == ({"live": 5}, {"unchanged": 5})
    assert out.read_bytes() == again.read_bytes()
    assert ours(json.loads(out.read_text())) == ["FIP-0", "FIP-1", "FIP-2", "FIP-3", "FIU-9"]
    notes = {one["detail"] for one in json.loads(first.stdout)}
    assert any("credentialsPk" in note and "dropped" in note for note in notes)


def test_a_dry_run_foresees_what_the_registry_would_refuse(kept: Service, tmp_path):
    file = tmp_path / "entries.json"
    held, changed, taken = fip(70), fip(70, tags="Another Name"), fip(71)
    taken["entityinfo"]["certificate"] = held["entityinfo"]["certificate"]
    file.write_text(json.dumps([held]))
    kept.cli("registry", "import", str(file))
    file.write_text(json.dumps([changed]))
    change = kept.cli("registry", "import", str(file), "--dry-run", "--json")
    file.write_text(json.dumps([taken]))

    refused = kept.cli("registry", "import", str(file), "--dry-run", "--json", check=False)

    assert results(change) == {"changed": 1}
    assert (refused.exit_code, results(refused)) == (1, {"refused": 1})
    assert "taken by another entity" in refused.stdout
    assert json.loads(kept.cli("registry", "show", "FIP-70", "--json").stdout)["version"] == 1


def test_people_see_a_bar_and_what_was_refused(kept: Service, tmp_path):
    file = tmp_path / "entries.json"
    file.write_text(json.dumps([fip(80), fip(81, baseurl="ftp://x")]))

    done = kept.cli("registry", "import", str(file), check=False)

    assert done.exit_code == 1
    assert "importing" in done.output
    assert "[1]  refused: $[1].entityinfo.baseurl" in done.output
    assert "live" in done.output


def test_half_a_character_costs_the_entry_that_has_it(kept: Service, tmp_path):
    """Programs that cut a name in the middle of an emoji leave one; the others move."""
    file = tmp_path / "cut.json"
    text = json.dumps([fip(48_720, name="CUT HERE"), fip(48_721)])
    file.write_text(text.replace("CUT HERE", "Bank \\ud83d"))

    done = kept.cli("migrate", "registry-file", str(file), "--json", check=False)

    cut, whole = json.loads(done.stdout)
    assert cut["result"] == "refused"
    assert cut["detail"].startswith("$[0] has half of a character")
    assert whole["result"] != "refused"
    lint = kept.cli("registry", "lint", str(file), check=False)
    assert "half of a surrogate pair" in lint.output


def published_sample() -> dict[str, Any]:
    """A FIU as the network's own description of its registry shows one (names and key are ours)."""
    sample = fiu(48_700, id="fiu@sabarmati", baseurl="https://fiu.sabarmati.example/v1")
    del sample["type"]
    sample |= {"timestamp": "2020-06-01 09:09:32.0", "txnid": "29ae-11e8-a8d7-0210"}
    del sample["entityinfo"]["tags"]
    sample["entityinfo"] |= {
        "Identifiers": [{"category": "STRONG", "type": "MOBILE"}],
        "fitypes": [""],
        "tokeninfo": {"desc": ""},
        "signature": {"signValue": "pqYW98PLbK"},
        "inboundports": None,
        "outboundports": None,
        "ips": None,
        "credentialsPk": None,
    }
    return sample


def test_the_published_sample_is_imported_with_a_note_for_each_odd_thing(kept: Service, tmp_path):
    file = tmp_path / "published.json"
    file.write_text(json.dumps([published_sample()]))

    submitted = kept.cli("registry", "lint", str(file), check=False)
    done = kept.cli("migrate", "registry-file", str(file), "--apply", "--json")
    again = kept.cli("migrate", "registry-file", str(file), "--apply", "--json")

    assert submitted.exit_code == 1
    assert (results(done), results(again)) == ({"live": 1}, {"unchanged": 1})
    (line,) = json.loads(done.stdout)
    for noted in (
        "$[0].type is missing and was read as FIU, by its ID",
        "$[0].timestamp was",
        "$[0].txnid must not be",
        "$[0].entityinfo.Identifiers must be empty for type FIU",
        "$[0].entityinfo.inboundports is missing or empty",
        "$[0].entityinfo.ips is missing or empty",
        "$[0].entityinfo.credentialsPk",
    ):
        assert noted in line["detail"], (noted, line["detail"])
    exported = json.loads(kept.cli("registry", "export").stdout)
    (entry,) = [one for one in exported if one["entityinfo"]["id"] == "fiu@sabarmati"]
    assert (entry["type"], entry["entityinfo"]["Identifiers"]) == ("FIU", [])
    assert entry["timestamp"] == "2020-06-01T09:09:32.000Z"
