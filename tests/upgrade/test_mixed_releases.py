"""Nodes of this release and of the one before serve one database under load (decision 0134).

`MIXED_S` is how many seconds they do; docs/operations/running.md has the figures of ten minutes.
"""

import itertools
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import psycopg
import pytest
from tests.support.agent.agent_process import free_port
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.nginx_front import nginx
from tests.support.other_release import (
    THIS,
    ReleaseNode,
    ended,
    members,
    release_before,
    start,
)
from tests.support.programs import program
from tests.support.service import NO_TLS
from tests.support.side_by_side import SideBySide

from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.migrate import HEAD, revisions

MIXED_S = float(os.environ.get("MIXED_S", "10"))
LIMITS = {
    "MUDRA_STOP_PAUSE_S": "1",
    "MUDRA_ENTITY_TOKEN_RATE": "100000",
    "MUDRA_ENTITY_TOKEN_BURST": "100000",
    "MUDRA_METRICS_PUSH_BURST": "100000",
    "MUDRA_ARGON2_MEMORY_MIB": "19",
    "MUDRA_SIGN_IN_HOURLY": "100000",
    "MUDRA_SECRET_READ_HOURLY": "100000",
}


class Journal(SideBySide):
    """Callers of all kinds, who try a failed call once more, and what was acknowledged."""

    def __init__(self, address: str, people: list[dict[str, Any]]) -> None:
        self.address = address
        self.first: Counter[str] = Counter()
        self.again: list[str] = []
        self.failed: list[str] = []
        self.secrets: dict[str, str] = {}
        self.receipts: list[str] = []
        self._people = {kind: [o for o in people if o["type"] == kind] for kind in ("FIP", "AA")}
        acts = (self._tokens, self._resets, self._pushes, self._reads)
        super().__init__([partial(self._loop, act) for act in acts])

    def calls(self) -> int:
        """How many there were so far."""
        return sum(self.first.values())

    def go_on(self, seconds: float) -> None:
        """Return after some seconds, and some calls."""
        calls, end = self.calls(), time.monotonic() + seconds
        while time.monotonic() < end or self.calls() < calls + 50:
            time.sleep(0.1)

    def _loop(self, act: Any) -> None:
        with httpx2.Client(base_url=self.address, timeout=30, verify=NO_TLS) as client:
            for step in act(client):
                if self.over.wait(step):
                    return

    def _call(self, client: httpx2.Client, method: str, path: str, **what: Any) -> httpx2.Response:
        answers: list[str] = []
        for _ in range(2):
            try:
                answer = client.request(method, path, **what)
            except httpx2.TransportError as error:
                answers.append(f"{path}: {error!r}")
                continue
            if answer.is_success:
                self.first[path] += 1
                self.again += answers
                return answer
            answers.append(f"{path}: {answer.status_code} {answer.text[:200]}")
        self.first[path] += 1
        self.failed += answers[-1:]
        return httpx2.Response(500)

    def _tokens(self, client: httpx2.Client) -> Iterator[float]:
        bank = self._people["FIP"][0]
        form = {"id": bank["id"], "secret": bank["secret"]}
        while True:
            answer = self._call(client, "POST", "/iam/v1/entity/token/generate", data=form)
            if answer.is_success:
                token = {"token": answer.json()["accessToken"]}
                own = (bank["id"], bank["secret"])
                shown = self._call(client, "POST", "/iam/oauth2/introspect", data=token, auth=own)
                if shown.is_success and not shown.json()["active"]:
                    self.failed.append("a token of one release is none for the other")
            yield 0.02

    def _resets(self, client: httpx2.Client) -> Iterator[float]:
        pause = MIXED_S * 3 / len(self._people["FIP"])
        for bank in self._people["FIP"][1:]:
            answer = self._call(
                client, "POST", "/iam/v1/entity/secret/reset",
                json={"entityId": bank["id"], "oldSecretValidity": 1},
                headers={"Authorization": f"Bearer {bank['user']}"},
            )  # fmt: skip
            if answer.is_success:
                self.secrets[bank["id"]] = answer.json()["secret"]
            yield pause

    def _pushes(self, client: httpx2.Client) -> Iterator[float]:
        tokens: dict[str, str] = {}
        last = window_start(datetime.now(UTC)) - WINDOW
        for number, aa in zip(itertools.count(), itertools.cycle(self._people["AA"]), strict=False):
            if aa["id"] not in tokens:
                form = {"id": aa["id"], "secret": aa["secret"]}
                answer = self._call(client, "POST", "/iam/v1/entity/token/generate", data=form)
                tokens[aa["id"]] = answer.json()["accessToken"]
            txn_id = f"mixed-{number}"
            window = last - WINDOW * (number // len(self._people["AA"]) % 900)
            answer = self._call(
                client, "POST", "/metrics/perf/v1/push",
                content=msgspec.json.encode(request_metrics(3, aa["id"], txn_id, window, number)),
                headers={
                    "Authorization": f"Bearer {tokens[aa['id']]}",
                    "Content-Type": "application/json",
                },
            )  # fmt: skip
            if answer.is_success:
                self.receipts.append(answer.json()["receiptId"])
            yield 0.1

    def _reads(self, client: httpx2.Client) -> Iterator[float]:
        bank = self._people["FIP"][0]
        form = {"id": bank["id"], "secret": bank["secret"]}
        answer = self._call(client, "POST", "/iam/v1/entity/token/generate", data=form)
        bearer = {"Authorization": f"Bearer {answer.json()['accessToken']}"}
        keys = "/iam/protocol/openid-connect/certs"
        for path in itertools.cycle(("/status", keys, "/cr/v2/entityInfo/AA", "/console/sign-in")):
            self._call(client, "GET", path, headers=bearer)
            yield 0.1


@dataclass
class Rollout:
    """Two nodes, each of either release, behind one address."""

    folder: Path
    url: str
    before: Path
    address: str
    ports: list[int]
    nodes: list[ReleaseNode]
    settings: dict[str, str]

    def begin(self) -> None:
        """Start both nodes with the release before, which makes the database."""
        self.nodes.append(self._started(0, self.before))
        self.settings["MUDRA_MASTER_KEY"] = (self.folder / "0" / "master.key").read_text()
        self.nodes.append(self._started(1, self.before))

    def members(self, **numbers: int) -> list[dict[str, Any]]:
        """Onboard members by the release before."""
        issuer = self.settings["MUDRA_BASE_URL"]
        return members(self.before, issuer, self.folder / "0", self.settings, **numbers)

    def replace(self, place: int, tree: Path, how: signal.Signals = signal.SIGTERM) -> None:
        """End a node and start one of a release in its place."""
        self.nodes[place].process.send_signal(how)
        assert self.nodes[place].process.wait(60) == (0 if how is signal.SIGTERM else -how)
        self.nodes[place] = self._started(place, tree)

    def _started(self, place: int, tree: Path) -> ReleaseNode:
        return start(tree, self.folder / str(place), self.ports[place], self.settings)

    def schema(self) -> str | None:
        """The revision of the schema."""
        with psycopg.connect(self.url) as connection:
            return revisions(connection).present

    def receipts(self) -> set[str]:
        """The IDs of all receipts that are stored."""
        with psycopg.connect(self.url) as connection:
            rows = connection.execute("SELECT receipt_id FROM metrics_receipt").fetchall()
        return {str(one) for (one,) in rows}

    def secrets(self, people: list[dict[str, Any]]) -> dict[str, str]:
        """The current secret of each member, as its admin reads it."""
        url = f"{self.settings['MUDRA_BASE_URL']}/v1/entity/secret/read"
        answers = {
            one["id"]: httpx2.post(
                url,
                json={"entityId": one["id"]},
                headers={"Authorization": f"Bearer {one['user']}"},
                timeout=30,
                verify=NO_TLS,
            ).json()
            for one in people
        }
        return {entity_id: answer["secret"] for entity_id, answer in answers.items()}


@pytest.fixture
def rollout(tmp_path: Path) -> Iterator[Rollout]:
    program("nginx")
    before = release_before(tmp_path / "before")
    ports, nodes = [free_port(), free_port()], list[ReleaseNode]()
    (tmp_path / "nginx").mkdir()
    with (
        embedded_server(tmp_path / "database") as url,
        nginx(tmp_path / "nginx", ports) as address,
        ended(nodes),
    ):
        settings = {"MUDRA_DATABASE_URL": url, "MUDRA_BASE_URL": f"{address}/iam", **LIMITS}
        yield Rollout(tmp_path, url, before, address, ports, nodes, settings)


@pytest.mark.slow
def test_an_upgrade_and_its_way_back_lose_no_request_and_nothing_acknowledged(
    rollout: Rollout,
) -> None:
    rollout.begin()
    people = rollout.members(FIP=30, AA=3)
    with Journal(rollout.address, people) as journal:
        journal.go_on(2)
        rollout.replace(0, THIS)
        upgraded = rollout.schema()
        journal.go_on(MIXED_S)
        rollout.replace(1, rollout.before, signal.SIGKILL)  # starts again on the new schema
        journal.go_on(2)
        rollout.replace(1, THIS)
        journal.go_on(2)
        rollout.replace(1, rollout.before)
        rollout.replace(0, rollout.before)
        journal.go_on(2)

    print(dict(journal.first), "again:", journal.again)
    assert (upgraded, rollout.schema()) == (HEAD, HEAD)
    assert journal.failed == []
    assert len(journal.again) <= 0.01 * journal.calls(), journal.again
    reset = [one for one in people if one["id"] in journal.secrets]
    assert rollout.secrets(reset) == journal.secrets
    assert set(journal.receipts) <= rollout.receipts()
