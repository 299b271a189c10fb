"""The load of the soak: who asks for what how often, and a journal of what was acknowledged."""

import asyncio
import contextlib
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import httpx2
import msgspec
import psycopg
from tests.faults.killed_agent import KilledAgent, kill_again_and_again
from tests.support.http_clients import NO_TLS
from tests.support.metrics.metrics_payloads import (
    notification_block,
    notification_metrics,
    request_block,
    request_metrics,
)

from bench.people import PASSWORD
from bench.sizes import sized
from mudra.metrics.payload.catalogue import (
    WINDOW,
    NotificationType,
    Position,
    RequestType,
    window_start,
)
from mudra.metrics.payload.report import NotificationFip, Report, RequestFip
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import COUNTS, Names

TypeT = TypeVar("TypeT")
RETRY_S = 0.3
_AGENT_KILLS = sized(10, 1)
CALLS = 15
"""Of each FIP and type in a window."""
PUSH = "/metrics/perf/v1/push"


@dataclass
class Journal:
    """The answers of the service, by kind of request; shared by all threads."""

    steady: bool = True
    statuses: Counter[tuple[str, bool, str]] = field(default_factory=Counter)
    """By kind, whether nothing was being killed, and status or error."""
    latencies: list[tuple[str, float, float]] = field(default_factory=list)
    """Kind, when (monotonic), and seconds; of answers of 2xx while nothing was being killed."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, kind: str, ask: Callable[[], httpx2.Response]) -> httpx2.Response | None:
        """Ask and note; None without an answer."""
        began, steady = time.monotonic(), self.steady
        try:
            answer = ask()
        except httpx2.TransportError as error:
            self.note(kind, type(error).__name__, steady=steady)
            return None
        outcome = str(answer.status_code)
        if answer.status_code == httpx2.codes.NOT_FOUND:  # of which the path is what matters
            outcome += " " + answer.request.url.path
        with self._lock:
            self.statuses[(kind, steady, outcome)] += 1
            if answer.is_success and steady and self.steady:
                self.latencies.append((kind, began, time.monotonic() - began))
        return answer

    def note(self, kind: str, outcome: str, *, steady: bool | None = None) -> None:
        """Count what came of something; what is no status of 200 to 299 is an error."""
        with self._lock:
            self.statuses[(kind, self.steady if steady is None else steady, outcome)] += 1


class Actor(threading.Thread):
    """Does one thing at an even rate until it is to end; late turns are not made up for."""

    def __init__(self, act: Callable[[], None], every_s: float, end: threading.Event) -> None:
        super().__init__(daemon=True)
        self._act, self._every_s, self._end = act, every_s, end

    def run(self) -> None:
        """Act, and wait for the next turn."""
        if self._end.wait(random.uniform(0, self._every_s)):
            return
        while True:
            began = time.monotonic()
            self._act()
            if self._end.wait(max(0.0, self._every_s - (time.monotonic() - began))):
                return


def client(root: str) -> httpx2.Client:
    """A client with connections of its own."""
    return httpx2.Client(base_url=root, timeout=20, verify=NO_TLS, trust_env=False)


class Tokens:
    """Members that get tokens, one after the other."""

    def __init__(self, root: str, members: dict[str, str], journal: Journal) -> None:
        self._members = list(members.items())
        self._journal, self._client = journal, client(root)

    def ask(self) -> None:
        """Get one token for any member."""
        entity_id, secret = random.choice(self._members)
        form = {"id": entity_id, "secret": secret}
        self._journal.asked(
            "token", lambda: self._client.post("/iam/v1/entity/token/generate", data=form)
        )


class Pages:
    """Operators who read the console."""

    def __init__(
        self, root: str, cookies: httpx2.Cookies, paths: list[str], journal: Journal
    ) -> None:
        self._paths, self._journal = paths, journal
        self._client = client(root)
        self._client.cookies = cookies

    def read(self) -> None:
        """Open one page."""
        path = random.choice(self._paths)
        self._journal.asked("page", lambda: self._client.get(path))


def plausible_reports(fips: int, dice: random.Random, busy: float = 1.0) -> list[Report]:
    """Both payloads, with fewer calls than the service holds back as implausible (decision 0047).

    `busy` is the share of FIPs and types that have calls in a window.
    """
    places = [f"BANK-{place:04}" for place in range(fips)]

    def chosen(types: Iterable[TypeT]) -> list[TypeT]:
        return [one for one in types if dice.random() < busy]

    of_requests = {place: chosen(RequestType) for place in places}
    of_notifications = {place: chosen(NotificationType) for place in places}
    requests = tuple(
        RequestFip(place, tuple(request_block(code, calls=CALLS) for code in codes))
        for place, codes in of_requests.items()
        if codes
    )
    notifications = tuple(
        NotificationFip(place, tuple(notification_block(code, calls=CALLS) for code in codes))
        for place, codes in of_notifications.items()
        if codes
    )
    return [
        msgspec.structs.replace(request_metrics(0), fips=requests),
        msgspec.structs.replace(notification_metrics(0), fips=notifications),
    ]


def of_window(model: Report, aa_id: str, start: datetime) -> Report:
    """This report as one of an AA's window."""
    return msgspec.structs.replace(
        model,
        aa_id=aa_id,
        txn_id=str(uuid.uuid4()),
        from_date_time=start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        to_date_time=(start + WINDOW).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


class Pusher:
    """An AA that pushes both payloads of each window until they are acknowledged."""

    def __init__(
        self,
        root: str,
        aa_id: str,
        secret: str,
        models: Sequence[Report],
        journal: Journal,
        retry_s: float = RETRY_S,
    ) -> None:
        self._retry_s = retry_s
        self.aa_id, self._secret, self._journal = aa_id, secret, journal
        self._client = client(root)
        self._token = ""
        self._window = window_start(datetime.now(UTC)) - WINDOW
        self._latest = self._window - WINDOW
        self._models = models
        self.acknowledged: dict[str, str] = {}
        """Receipt by transaction."""
        self.expected: Counter[tuple[str, str]] = Counter()
        """Calls by tag and window that the payloads name."""

    def push(self) -> None:
        """Push both payloads of one window, the last closed one first, then ever older ones."""
        self._window -= WINDOW
        self._push(self._window)

    def push_latest(self) -> None:
        """Push both payloads of the window that is just over, unless it was pushed."""
        latest = window_start(datetime.now(UTC)) - WINDOW
        if latest > self._latest:
            self._latest = latest
            self._push(latest)

    def _push(self, start: datetime) -> None:
        for tag, model in zip(("req", "not"), self._models, strict=True):
            report = of_window(model, self.aa_id, start)
            self._deliver(report)
            self.expected[(tag, report.from_date_time)] += sum(
                block.counts[0] for fip in report.fips for block in fip.metrics
            )

    def _deliver(self, report: Report) -> None:
        body = msgspec.json.encode(report)
        while report.txn_id not in self.acknowledged:
            answer = self._journal.asked("push", lambda: self._send(body))
            if answer is not None and answer.status_code == httpx2.codes.OK:
                self.acknowledged[report.txn_id] = answer.json()["receiptId"]
                if "is implausible" in answer.text:
                    self._journal.note("push", "held")
                return
            if answer is not None and answer.status_code in {400, 403, 422}:
                raise RuntimeError(f"a payload was refused: {answer.text[:300]}")
            if answer is None or answer.status_code == httpx2.codes.UNAUTHORIZED:
                self._token = ""
            time.sleep(self._retry_s)

    def _send(self, body: bytes) -> httpx2.Response:
        if not self._token:
            form = {"id": self.aa_id, "secret": self._secret}
            answer = self._client.post("/iam/v1/entity/token/generate", data=form)
            if answer.status_code != httpx2.codes.OK:
                return answer
            self._token = answer.json()["accessToken"]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        return self._client.post(PUSH, content=body, headers=headers)


class Admin:
    """A member's admin, who resets its secret, each time after the wait between resets."""

    def __init__(self, root: str, entity_id: str, email: str, journal: Journal) -> None:
        self.entity_id, self._email, self._journal = entity_id, email, journal
        self._client = client(root)
        self._bearer: dict[str, str] = {}
        self.acknowledged: list[str] = []
        self.unsure = 0
        """Resets without an answer, which may have been committed."""
        self.unsure_since = False

    def reset(self) -> None:
        """Reset once; what comes of it is noted."""
        with contextlib.suppress(httpx2.TransportError):
            if not self._bearer:
                self.sign_in()
        if not self._bearer:
            return
        order = {"entityId": self.entity_id, "oldSecretValidity": 0}
        answer = self._journal.asked(
            "reset",
            lambda: self._client.post(
                "/iam/v1/entity/secret/reset", json=order, headers=self._bearer
            ),
        )
        if answer is not None and answer.status_code == httpx2.codes.OK:
            self.acknowledged.append(answer.json()["secret"])
            self.unsure_since = False
        elif answer is None or answer.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
            self.unsure += 1
            self.unsure_since = True

    def sign_in(self) -> None:
        """Get a User Access Token, if the service answers."""
        form = {"username": self._email, "password": PASSWORD}
        answer = self._client.post("/iam/v1/user/token/generate", data=form)
        if answer.status_code == httpx2.codes.OK:
            self._bearer = {"Authorization": f"Bearer {answer.json()['accessToken']}"}

    def shown(self) -> str:
        """The secret that reading shows; empty while the service heals of the last kill."""
        with contextlib.suppress(httpx2.TransportError):
            self.sign_in()
            body = {"entityId": self.entity_id}
            answer = self._client.post(
                "/iam/v1/entity/secret/read", json=body, headers=self._bearer
            )
            if answer.status_code == httpx2.codes.OK:
                return str(answer.json()["secret"])
        return ""


_BLOCKS = (
    'SELECT tag, to_char(at, \'YYYY-MM-DD"T"HH24:MI:SS"Z"\'), numbers FROM metrics_block'
    " WHERE grain = 'window' AND tag IN ('req', 'not') AND aa_id = %s AND at >= %s"
)
_RECEIPTS = "SELECT receipt_id FROM metrics_receipt WHERE aa_id = %s AND window_at >= %s"
_NEVER = "9999-12-31"
_VERSIONS = "SELECT entity_id, max(version) FROM entity_secret GROUP BY 1"


def pushes_lost_and_doubled(
    connection: psycopg.Connection, pushers: Sequence[Pusher]
) -> tuple[int, int]:
    """Compare the stored calls and receipts with what each pusher was acknowledged.

    What is older than all that it pushed is not its own.
    """
    lost = doubled = 0
    for one in pushers:
        own = [one.aa_id, min((at for _, at in one.expected), default=_NEVER)]
        there = Counter[tuple[str, str]]()
        for tag, at, numbers in connection.execute(_BLOCKS, own):
            cells = decoded(numbers, None, Names(), 0, 0)
            there[tag, at] += int(cells.of(COUNTS[Position.TOTAL]).sum())
        lost += sum(there[key] < calls for key, calls in one.expected.items())
        doubled += sum(calls > one.expected[key] for key, calls in there.items())
        kept = [str(row[0]) for row in connection.execute(_RECEIPTS, own)]
        lost += len(set(one.acknowledged.values()) - set(kept))
        doubled += max(0, len(kept) - len(one.acknowledged))
    return lost, doubled


def secret_versions(connection: psycopg.Connection) -> dict[str, int]:
    """Return the newest version of each entity's secret."""
    return dict(connection.execute(_VERSIONS).fetchall())


class Agents(threading.Thread):
    """Agents that are killed again and again, each with a hostile operator of its own."""

    def __init__(self, home: Path, seconds: float, seed: int) -> None:
        super().__init__(daemon=True)
        self._home, self._seconds, self._seed = home, seconds, seed
        self.found: list[KilledAgent] = []

    def run(self) -> None:
        """One agent after the other, each killed so many times."""
        until = time.monotonic() + self._seconds
        while not self.found or time.monotonic() < until:
            directory = self._home / f"agent-{len(self.found)}"
            directory.mkdir()
            seed = self._seed + len(self.found)
            self.found.append(asyncio.run(kill_again_and_again(directory, _AGENT_KILLS, seed)))
