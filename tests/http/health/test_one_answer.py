"""Every surface shows the one answer: which cause, and which calls it explains."""

import re
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx2
import msgspec
import pytest
from tests.http.public_status import open_data
from tests.support.http_clients import NO_TLS
from tests.support.members import new_member
from tests.support.metrics.health_network import (
    CLOSE_AFTER,
    HealthNetwork,
    a_network,
    at_aa,
    at_fip,
    on_path,
)
from tests.support.people.console import reader
from tests.support.process import running_service
from tests.support.service import Service

Name = tuple[str, str, str, str]
"""Kind, entity, peer and API."""
DOWN = 0.9


class Surfaces:
    """What each surface says is wrong now."""

    def __init__(self, network: HealthNetwork) -> None:
        self.network = network
        self.service = network.service
        fiu = new_member(self.service, "FIU")
        token = fiu.entity_token(fiu.secret()).json()["accessToken"]
        self.fiu = {"Authorization": f"Bearer {token}"}

    def shows(self, read: Callable[[], object], expected: object) -> None:
        """Wait until a surface shows what is expected; fail with what it shows instead."""
        try:
            self.service.wait_until(lambda: read() == expected)
        except AssertionError:
            assert read() == expected

    def matrix(self, **query: str) -> Any:
        answer = self.network.noc.get("/health/matrix", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def page(self, email: str, path: str) -> str:
        browser = reader(self.service)
        assert browser.sign_in(email).status_code == 303
        return browser.get(path).text

    def feed(self) -> Any:
        address = f"{self.service.root}/metrics/perf/v1/feed"
        return httpx2.get(address, headers=self.fiu, verify=NO_TLS).json()["data"]["fips"]

    def in_feed(self) -> set[Name]:
        apis = [api for fip in self.feed().values() for api in fip.values()]
        found = [one for api in apis for one in api["causes"]]
        return {(one["kind"], one["entity_id"], one["peer_id"], one["type"]) for one in found}

    def in_public(self) -> set[tuple[str, str]]:
        status = open_data(self.service)
        return {(one["fip_id"], one["type"]) for one in status["incidents"] if not one["ended"]}

    def on_own_page(self, entity_id: str) -> set[Name]:
        """The open incidents that a member's own health page names and leads to."""
        pages = reader(self.service)
        pages.sign_in(self.network.admins[entity_id])
        page = pages.get(f"/console/entity/{entity_id}/health").text
        assert 'id="fault"' in page
        shown = page.split('id="fault"')[1].split("</section>")[0]
        linked = re.findall(
            rf'<a href="/console/entity/{entity_id}/health/incidents/([^"]+)">', shown
        )
        return named(
            [one for one in self.network.incidents(open="true") if one["incidentId"] in linked]
        )

    def show_members_what_concerns_them(self, fip: Name, path: Name, other: str) -> None:
        assert fip in self.on_own_page(fip[1])
        assert path in self.on_own_page(path[2])
        assert not {fip, path} & self.on_own_page(other)

    def in_cli(self, *command: str) -> Any:
        return msgspec.json.decode(self.service.cli("health", *command, "--json").stdout)

    def in_prometheus(self) -> set[Name]:
        port = self.service.environment["MUDRA_TELEMETRY_PORT"]
        text = httpx2.get(f"http://127.0.0.1:{port}/metrics").text
        found = set()
        for line in text.splitlines():
            if line.startswith("mudra_health_cause{"):
                assert float(line.split()[-1]) == 1, "what is over is not shown"
                parts = line[line.index("{") + 1 : line.index("}")].split(",")
                labels = dict(part.replace('"', "").split("=") for part in parts if "=" in part)
                found.add((labels["kind"], labels["entity"], labels["peer"], labels["api"]))
        return found


def named(causes: list[dict[str, Any]]) -> set[Name]:
    return {(one["kind"], one["entityId"], one["peerId"], one["type"]) for one in causes}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = str(held.getsockname()[1])
    data_dir = tmp_path_factory.mktemp("answer") / "data"
    with running_service(data_dir, keeps_store=True, MUDRA_TELEMETRY_PORT=port) as running:
        yield running


@pytest.fixture(scope="module")
def surfaces(service: Service) -> Surfaces:
    network = a_network(service, aas=5, fips=8)
    network.windows(6)
    network.settled()
    assert network.incidents() == []
    return Surfaces(network)


def pages_agree(surfaces: Surfaces, kinds: dict[str, str]) -> None:
    """The board has these causes, and members are led to theirs at its time and API."""
    network = surfaces.network
    fips = [one.entity_id for one in network.fips]
    board = surfaces.page(network.noc.email, "/console/operator/board")
    rows = re.findall(r'<h3><a href="/console/operator/incidents/([^"]+)">', board)
    assert sorted(rows) == sorted(kinds), "one row a cause"
    (of_api,) = (one for one, kind in kinds.items() if kind == "fip-api")
    home = f"/console/entity/{fips[1]}"
    overview = surfaces.page(network.fips[1].email, home)
    here = f"{home}/health/incidents/{of_api}"
    assert here in overview
    own = surfaces.page(network.fips[1].email, here)
    assert '<h1 id="verdict">Kaveri Bank, consent: ' in own
    assert f"{home}/health?from=" in own


def test_each_fault_has_the_same_cause_on_every_surface(surfaces: Surfaces) -> None:
    network = surfaces.network
    fips, aas = [one.entity_id for one in network.fips], [one.aa_id for one in network.aas]
    fip = ("fip", fips[0], "", "")
    api = ("fip-api", fips[1], "", "cns")
    path = ("path", aas[0], fips[2], "")
    aa = ("aa-calls", aas[1], "", "")
    silent = ("aa-reporting", aas[4], "", "")
    every = {fip, api, path, aa, silent}
    network.silent.add(aas[4])
    network.windows(
        4,
        at_fip(fips[0], failing=DOWN),
        at_fip(fips[1], "cns", failing=DOWN),
        on_path(aas[0], fips[2], failing=DOWN),
        at_aa(aas[1], failing=DOWN),
    )
    network.settled()

    assert named(network.incidents(open="true")) == every
    matrix = surfaces.matrix()
    assert named(matrix["causes"]) == every
    kinds = {one["incidentId"]: one["kind"] for one in matrix["causes"]}
    assert all(kinds[one["incidentId"]] == one["blame"] for one in matrix["verdicts"])
    blamed = {
        kind: {(one["aaId"], one["fipId"]) for one in matrix["verdicts"] if one["blame"] == kind}
        for kind in ("fip", "fip-api", "path", "aa-calls", "aa-reporting")
    }
    everywhere = [{(one, bank) for one in aas} for bank in fips]
    assert blamed == {
        "fip": everywhere[0],
        "fip-api": everywhere[1],
        "path": {(aas[0], fips[2])},
        "aa-calls": {(aas[1], bank) for bank in fips},
        "aa-reporting": set(),
    }
    assert api not in named(surfaces.matrix(type="fif")["causes"])
    assert api in named(surfaces.matrix(type="cns")["causes"])

    surfaces.shows(surfaces.in_feed, every - {silent})
    feed = surfaces.feed()
    assert {one["status"] for one in feed[fips[0]].values() if one["causes"]} == {"BAD"}
    assert feed[fips[1]]["consent"]["status"] == "BAD"
    assert [one["entity_id"] for one in feed[fips[1]]["fi_fetch"]["causes"]] == [aas[1]]

    surfaces.shows(surfaces.in_public, {(fips[0], ""), (fips[1], "cns")})
    surfaces.show_members_what_concerns_them(fip, path, fips[7])
    assert named(surfaces.in_cli("incidents", "--open")) == every
    assert named(surfaces.in_cli("matrix")["causes"]) == every
    surfaces.shows(surfaces.in_prometheus, every)

    pages_agree(surfaces, kinds)

    network.silent.clear()
    network.windows(CLOSE_AFTER)
    network.settled()
    assert network.incidents(open="true") == []
    surfaces.shows(surfaces.in_feed, set())
    surfaces.shows(surfaces.in_prometheus, set())
    assert named(surfaces.matrix(type="cns")["causes"]) == every


@pytest.mark.slow
def test_what_the_evidence_does_not_separate_is_said_everywhere(surfaces: Surfaces) -> None:
    network = surfaces.network
    network.fips.append(new_member(surfaces.service, "FIP"))
    bank = network.fips[-1].entity_id
    only, rest = network.aas[0].aa_id, [one.entity_id for one in network.fips[:-1]]
    aas = network.aas
    for number in range(8):
        network.service.advance("PT10M")
        window = aas[0].last_window()
        down = (at_fip(bank, failing=DOWN),) if number > 4 else ()
        network.report_of(window, {only: [*rest, bank]}, *down, fips=rest)
        network.reported_to = window
    network.settled()

    (found,) = network.incidents(open="true")
    assert set(found["cause"].lower().replace("the path", "path").split(" or ")) == {
        f"fip {bank}".lower(),
        f"path between {only} and {bank}".lower(),
    }
    assert "The calls of one AA alone show it" in found["ambiguity"]
    (cause,) = (
        one for one in surfaces.matrix()["causes"] if one["incidentId"] == found["incidentId"]
    )
    assert cause["cause"] == found["cause"]
    surfaces.service.wait_until(lambda: bool(surfaces.feed()[bank]["consent"]["causes"]))
    assert surfaces.feed()[bank]["consent"]["causes"][0]["text"] == found["cause"]
    assert found["cause"] in surfaces.service.cli("health", "matrix").stdout
    public = surfaces.service.client()

    def status(file: str) -> str:
        return str(public.get(f"{surfaces.service.root}/status{file}").text)

    surfaces.service.wait_until(lambda: "possibly disrupted</h1>" in status(""))
    assert "One AA alone sees it" in status("")
    assert "; 1 possibly disrupted" in status(f"?q={bank}")
    assert "Possibly disrupted" in status(f"/fip/{bank}/badge.svg")
    shown = msgspec.json.decode(status("/network.json"))
    effects = [one["effect"] for one in shown["incidents"] if one["fip_id"] == bank]
    assert effects == ["possibly-disrupted"]
    (of_bank,) = (one for one in shown["fips"] if one["fip_id"] == bank)
    assert "BAD" not in {one["status"] for one in of_bank["apis"]}


def test_a_planned_maintenance_is_on_every_surface(surfaces: Surfaces) -> None:
    network, bank = surfaces.network, surfaces.network.fips[3].entity_id
    ends = (network.aas[0].now() + timedelta(hours=2)).isoformat()
    answer = network.noc.post(
        "/health/silences", entityId=bank, ends=ends, reason="new disks", maintenance=True
    )
    assert answer.status_code == 200, answer.text
    silence = answer.json()["silence"]
    planned = [{"entityId": bank, "begins": silence["begins"], "ends": silence["ends"]}]

    assert surfaces.matrix()["maintenance"] == planned
    assert network.noc.get("/health/fips").json()["maintenance"] == planned
    other = network.noc.get("/health/fips", fipId=network.fips[4].entity_id).json()
    assert other["maintenance"] == []
    assert surfaces.in_cli("matrix")["maintenance"] == planned
    line = f"planned maintenance: {bank} from {silence['begins']}"
    assert line in surfaces.service.cli("health", "matrix").stdout
    assert line in surfaces.service.cli("health", "picture", "fips").stdout
    withdrawn = network.noc.post(
        "/health/silences",
        entityId=network.fips[4].entity_id,
        begins=(network.aas[0].now() + timedelta(hours=1)).isoformat(),
        ends=ends,
        reason="new disks",
        maintenance=True,
    ).json()["silence"]
    network.noc.post(f"/health/silences/{withdrawn['silenceId']}/end")
    network.service.advance("PT1S")
    surfaces.shows(lambda: gauge(surfaces, bank), 1.0)
    assert surfaces.matrix()["maintenance"] == planned
    assert surfaces.service.cli("health", "matrix").stdout.count("planned maintenance") == 1

    network.noc.post(f"/health/silences/{silence['silenceId']}/end")
    network.service.advance("PT1S")
    surfaces.shows(lambda: gauge(surfaces, bank), None)


def gauge(surfaces: Surfaces, entity_id: str) -> float | None:
    """What Prometheus shows of the maintenance of an entity."""
    port = surfaces.service.environment["MUDRA_TELEMETRY_PORT"]
    text = httpx2.get(f"http://127.0.0.1:{port}/metrics").text
    start = f'mudra_health_maintenance{{entity="{entity_id}"}} '
    found = [line for line in text.splitlines() if line.startswith(start)]
    return float(found[0].split()[-1]) if found else None
