"""The feed has each FIP's state by latest evidence; FIUs and the public get what changes."""

import contextlib
import re
import socket
import struct
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import httpx2
import msgspec
import pytest
from tests.docs.follow import follow
from tests.docs.guides import monitor_the_network
from tests.docs.left_out import is_left_out
from tests.support.alarm_network import Network
from tests.support.depth import in_turn
from tests.support.documents.blocks import blocks_of
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.metrics.health_network import (
    CLOSE_AFTER,
    HealthNetwork,
    a_network,
    at_fip,
    on_path,
)
from tests.support.people.console import reader
from tests.support.process import running_service
from tests.support.until import PATIENCE_S, until
from tests.support.webhook_sink import Posted, webhook_sink

HEARTBEAT_S = 15
MAX_OF_A_MEMBER = 4

DOWN = 0.9
PREFIX = "/metrics/perf/v1"


class Fiu:
    """A FIU that reads the feed."""

    def __init__(self, network: HealthNetwork) -> None:
        self.member: Member = new_member(network.service, "FIU")
        token = self.member.entity_token(self.member.secret()).json()["accessToken"]
        self.headers = {"Authorization": f"Bearer {token}"}
        self.root = network.service.root + PREFIX

    def get(self, path: str) -> httpx2.Response:
        return self.member.client.get(self.root + path, headers=self.headers)

    def post(self, path: str, body: object) -> httpx2.Response:
        return self.member.client.post(self.root + path, json=body, headers=self.headers)

    def consent(self, fip_id: str) -> Any:
        return self.get("/feed").json()["data"]["fips"][fip_id]["consent"]

    def raw_stream(self) -> socket.socket:
        """A stream on a socket of its own, once its first event has come."""
        address = httpx2.URL(self.root)
        stream = socket.create_connection((address.host, address.port), timeout=PATIENCE_S)
        head = f"GET {address.path}/feed/events HTTP/1.1\r\nHost: x\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        stream.sendall(f"{head}{lines}\r\n".encode())
        received = b""
        while b"event: ready" not in received:
            piece = stream.recv(65536)
            assert piece, received
            received += piece
        return stream

    def is_admitted(self) -> bool:
        """Whether one more stream begins."""
        with self.member.client.stream(
            "GET", self.root + "/feed/events", headers=self.headers
        ) as answer:
            return answer.status_code == 200

    @contextlib.contextmanager
    def listening(self) -> Iterator["SimpleQueue[tuple[float, str, str]]"]:
        """The events as they come: time, name and data."""
        events: SimpleQueue[tuple[float, str, str]] = SimpleQueue()
        client = httpx2.Client(verify=NO_TLS)
        with client.stream("GET", self.root + "/feed/events", headers=self.headers) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            reading = threading.Thread(target=_read, args=(answer, events), daemon=True)
            reading.start()
            yield events
            # The thread that reads keeps the socket open beyond its close.
            with contextlib.suppress(OSError):
                answer.extensions["network_stream"].get_extra_info("socket").shutdown(
                    socket.SHUT_RDWR
                )
        client.close()


def _read(answer: httpx2.Response, events: "SimpleQueue[tuple[float, str, str]]") -> None:
    name = ""
    with contextlib.suppress(httpx2.HTTPError, httpx2.StreamClosed, RuntimeError):
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.put((time.time(), name, line.removeprefix("data: ")))
            elif line.startswith(":"):
                events.put((time.time(), "heartbeat", ""))
    events.put((time.time(), "end", ""))


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthNetwork]:
    with running_service(tmp_path_factory.mktemp("states") / "data", keeps_store=True) as service:
        made = a_network(service, fips=4)
        made.windows(6)
        made.settled()
        yield made


@pytest.fixture(scope="module")
def fiu(network: HealthNetwork) -> Fiu:
    return Fiu(network)


def test_a_healthy_fip_is_good_with_calls_and_reporters_behind(
    network: HealthNetwork, fiu: Fiu
) -> None:
    shown = fiu.consent(network.fips[3].entity_id)

    assert (shown["status"], shown["calls"], shown["failed"]) == ("GOOD", 400, 4)
    assert (shown["reporters"], shown["causes"]) == (4, [])
    assert 0.95 <= shown["confidence"] <= 0.9999
    assert shown["since"] <= shown["evidence_from"]


def test_a_fip_is_bad_with_its_cause_and_good_within_two_good_windows(
    network: HealthNetwork, fiu: Fiu
) -> None:
    bank = network.fips[0].entity_id

    network.windows(2, at_fip(bank, failing=DOWN))
    network.settled()
    down = fiu.consent(bank)
    network.windows(2)
    network.settled()
    back = fiu.consent(bank)

    assert (down["status"], [one["entity_id"] for one in down["causes"]]) == ("BAD", [bank])
    assert back["status"] == "GOOD"
    assert back["success_percentage"] < 95  # that of the whole hour
    assert back["since"] > down["since"]
    network.windows(1)


@pytest.mark.slow
def test_a_fip_that_one_path_does_not_reach_is_good_and_the_path_is_named(
    network: HealthNetwork, fiu: Fiu
) -> None:
    bank, aa = network.fips[1].entity_id, network.aas[0].aa_id

    network.windows(3, on_path(aa, bank, failing=DOWN))
    network.settled()
    shown = fiu.consent(bank)
    network.windows(CLOSE_AFTER)
    network.settled()

    assert (shown["status"], shown["reporters"]) == ("GOOD", 3)
    assert [(one["kind"], one["entity_id"], one["peer_id"]) for one in shown["causes"]] == [
        ("path", aa, bank)
    ]
    assert fiu.consent(bank)["causes"] == []


def test_a_listener_gets_the_change_within_a_second_of_the_verdict(
    network: HealthNetwork, fiu: Fiu
) -> None:
    bank = network.fips[2].entity_id
    with fiu.listening() as events:
        assert events.get(timeout=PATIENCE_S)[1] == "ready"
        network.windows(2, at_fip(bank, failing=DOWN))
        network.settled()
        heard: dict[str, Any] = {}
        deadline = time.monotonic() + PATIENCE_S
        while heard.get("status") != "BAD":
            assert time.monotonic() < deadline, heard
            _, name, data = events.get(timeout=PATIENCE_S)
            if name == "feed":
                heard = msgspec.json.decode(data)["fips"].get(bank, {}).get("consent", heard)
        shown = fiu.consent(bank)
        stored = network.incidents(bank, open="true")[0]["detected"]

    assert (heard["since"], heard["causes"]) == (shown["since"], shown["causes"])
    assert stored[:16] >= heard["since"][:16]
    network.windows(CLOSE_AFTER)


def test_streams_are_bounded_for_each_member(network: HealthNetwork) -> None:
    fiu = Fiu(network)
    with contextlib.ExitStack() as streams:
        for _ in range(MAX_OF_A_MEMBER):
            assert streams.enter_context(fiu.listening()).get(timeout=PATIENCE_S)[1] == "ready"
        refused = fiu.get("/feed/events")

        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0


@pytest.mark.parametrize("how", ["close", "half-close", "reset"])
def test_a_place_is_free_at_once_when_its_listener_has_left(
    network: HealthNetwork, how: str
) -> None:
    fiu = Fiu(network)
    for _ in range(2):
        sockets = [fiu.raw_stream() for _ in range(MAX_OF_A_MEMBER)]
        for one in sockets:
            if how == "half-close":
                one.shutdown(socket.SHUT_WR)
            elif how == "reset":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close() if how != "half-close" else None
        # Before any of them had a heartbeat, by which their end would be noticed at the latest.
        until(fiu.is_admitted, within_s=HEARTBEAT_S - 3)


class Reported(NamedTuple):
    """What was said about two FIPs that failed, of which a FIU and the public had named one."""

    fip_id: str
    hook: dict[str, Any]
    posted: list[Posted]
    link: str
    mails: list[dict[str, Any]]
    ended: list[dict[str, Any]]
    """To who ended it between beginning and end."""
    of_another: list[dict[str, Any]]
    """To who had named a third FIP."""


@pytest.fixture(scope="module")
def reported(network: HealthNetwork, fiu: Fiu) -> Reported:
    third, other, _, bank = (one.entity_id for one in network.fips)
    with webhook_sink() as sink:
        answer = fiu.post("/webhooks", {"url": sink.url, "fips": [bank]})
        assert answer.status_code == 200, answer.text
        email, link = subscriber(network, bank)
        ended, end = subscriber(network, bank)
        of_another, _ = subscriber(network, third)
        network.windows(3, at_fip(bank, failing=DOWN), at_fip(other, failing=DOWN))
        network.settled()
        network.in_time(lambda: len(network.mails_to(ended)) == 2)
        assert reader(network.service).post(f"{end}/end", {}).status_code == 200
        network.windows(CLOSE_AFTER)
        network.settled()
        network.in_time(lambda: len(network.mails_to(email)) == 3)
        network.service.wait_until(
            lambda: [one.data["type"] for one in sink.posted][-1:] == ["incident.closed"]
        )
    mails = [network.mails_to(one) for one in (email, ended, of_another)]
    return Reported(bank, answer.json()["webhook"], sink.posted, link, *mails)


def subscriber(network: HealthNetwork, fip_id: str) -> tuple[str, str]:
    """An address that confirmed; with the path of its link."""
    browser, email = reader(network.service), f"{uuid.uuid4().hex}@reader.example"
    network.in_time(lambda: browser.get(f"/status/fip/{fip_id}").status_code == 200)
    asked = browser.post("/status/subscribe", {"email": email, "fip": fip_id})
    assert asked.status_code == 202
    network.in_time(lambda: bool(network.mails_to(email)))
    (link,) = re.findall(r"/status/subscription/\S+", network.mails_to(email)[0]["text"])
    assert browser.post(f"{link}/confirm", {}).status_code == 200
    return email, link


@in_turn(0)
def test_a_fiu_gets_webhook_messages_about_the_fips_that_it_names(reported: Reported) -> None:
    assert reported.hook["fips"] == [reported.fip_id]
    assert len(reported.posted) == 2
    assert {one.data["data"]["entityId"] for one in reported.posted} == {reported.fip_id}


@in_turn(0)
def test_the_public_gets_what_it_subscribed_to_until_it_ends_it(
    network: HealthNetwork, reported: Reported
) -> None:
    _, bad, good = reported.mails
    assert "is disrupted" in bad["subject"]
    assert "works again" in good["subject"]
    assert re.search(r"since \d+ \w+ \d{4}, \d\d:\d\d IST: ", bad["text"])
    assert reported.link in bad["text"]
    assert reported.link in good["text"]
    assert (len(reported.ended), len(reported.of_another)) == (2, 1)
    log = (network.service.data_dir / "mudra.log").read_text()
    assert bad["to"] not in log
    assert reported.link.rpartition("/")[2] not in log
    assert "/status/subscription/***" in log


def test_only_a_fiu_names_fips_and_only_known_ones(network: HealthNetwork, fiu: Fiu) -> None:
    bank = network.fips[0].entity_id
    url = "https://alarms.example.com/"
    unknown = fiu.post("/webhooks", {"url": url, "fips": ["NO-SUCH-BANK"]})
    of_fip = network.noc.post("/health/webhooks", url=url, entityId=bank, fips=[bank])

    assert (unknown.status_code, of_fip.status_code) == (409, 409)
    assert "NO-SUCH-BANK" in unknown.json()["errorMsg"]


@pytest.mark.slow
def test_the_guide_to_alarms_works_by_its_own_words(network: HealthNetwork, tmp_path: Path) -> None:
    blocks = blocks_of("docs/how-to/monitor-the-network.md")
    guide = [one for one in blocks if not is_left_out(one)]  # another test runs those

    with monitor_the_network(Network(network.service, network, network.noc)) as fill:
        follow(guide, network.service, tmp_path, fill, strict=True)


def test_streams_end_when_the_service_stops(network: HealthNetwork, fiu: Fiu) -> None:
    with fiu.listening() as events:
        assert events.get(timeout=PATIENCE_S)[1] == "ready"
        begun = time.monotonic()
        network.service.stop()
        while events.get(timeout=PATIENCE_S)[1] != "end":
            pass

    assert time.monotonic() - begun < 15
