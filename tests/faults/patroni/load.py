"""Tokens, resets, pushes and registry writes at two nodes, with a journal of every answer."""

import secrets
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import httpx2
import msgspec
import sqlalchemy as sa
from tests.faults.side_by_side import SideBySide
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.metrics.metrics_push import PushingAa, pushing_aa
from tests.support.registry.registry_payloads import fip
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.payload.report import RequestMetrics
from mudra.storage.tables.identity import entity
from mudra.tokens.secrets.secret import first_secret, new_secret_text
from mudra.tokens.secrets.secret_store import Secrets

TIMEOUT_S = 20.0
AAS = 4
TOKEN, RESET, PUSH, REGISTRY = "token", "reset", "push", "registry"
WRITES = (RESET, PUSH, REGISTRY)


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 when nothing did."""

    kind: str
    node: int
    began: float
    ended: float
    status: int


@dataclass
class Entities:
    """Entities of one admin, each with its first secret; each is reset and registered once."""

    admin: Member
    bearer: dict[str, str]
    secrets: dict[str, str]
    to_reset: Iterator[str]
    to_register: Iterator[str]


@dataclass
class Journal:
    """Every answer, and what was acknowledged."""

    answers: list[Answer] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    """Tokens."""
    resets: dict[str, str] = field(default_factory=dict)
    reset_at: dict[str, tuple[float, float]] = field(default_factory=dict)
    """When each acknowledged reset began and ended, by the machine's clock."""
    undecided_resets: set[str] = field(default_factory=set)
    registered: set[str] = field(default_factory=set)
    undecided_entries: set[str] = field(default_factory=set)
    pushes: dict[str, str] = field(default_factory=dict)
    """Receipt of each acknowledged transaction of a push."""
    pushed: dict[str, RequestMetrics] = field(default_factory=dict)
    newest: dict[str, datetime] = field(default_factory=dict)
    """The window from which each AA goes back."""
    wrong: list[str] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)

    def acknowledged(self) -> dict[str, int]:
        """How many of each kind."""
        found = Counter(one.kind for one in self.answers if one.status == 200)
        return {kind: found[kind] for kind in (TOKEN, *WRITES)}

    def first_write(self, after: float, node: int) -> float:
        """Seconds from a moment to the end of the first write that was begun after it."""
        ended = [
            one.ended
            for one in self.answers
            if one.node == node and one.kind in WRITES and one.status == 200 and one.began >= after
        ]
        return min(ended, default=float("inf")) - after

    def tokens(self, since: float, until: float) -> dict[int, int]:
        """Token requests that began between two moments, by status."""
        return dict(
            Counter(
                one.status
                for one in self.answers
                if one.kind == TOKEN and since <= one.began < until
            )
        )


def entities(service: Service, count: int) -> Entities:
    """Make entities with one admin."""
    admin = new_member(service)
    made = {
        f"H-{uuid.uuid4().hex[:10]}-FIP": new_secret_text(secrets.token_bytes) for _ in range(count)
    }

    async def onboard(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction(within_s=60) as transaction:
            store = Secrets(transaction)
            now = await transaction.now()
            await transaction.connection.execute(
                sa.insert(entity),
                [{"entity_id": n, "type": "FIP", "name": n, "created_at": now} for n in made],
            )
            await transaction.connection.execute(
                sa.text(
                    "INSERT INTO entity_admin (entity_id, user_id, since)"
                    " SELECT entity_id, user_id, now() FROM entity, user_account"
                    " WHERE entity_id = ANY(:made) AND email = :email"
                ),
                {"email": admin.email, "made": list(made)},
            )
            for name, text in made.items():
                await store.keep_first(first_secret(name, now), text)

    service.in_store(onboard)
    texts = {name: text.reveal() for name, text in made.items()}
    return Entities(admin, admin.bearer(), texts, iter(list(texts)), iter(list(texts)))


class Load(SideBySide):
    """Calls all nodes until the end of the block; goes on with a journal and its AAs, if any."""

    pauses: Mapping[str, float] = {TOKEN: 0.05, RESET: 0.0, REGISTRY: 0.1, PUSH: 0.15}
    """Seconds after each act."""

    def __init__(
        self,
        nodes: list[Service],
        known: Entities,
        journal: Journal | None = None,
        aas: Sequence[PushingAa] = (),
    ) -> None:
        self.nodes = nodes
        self.journal = journal or Journal()
        self._known = known
        self._resets, self._entries = known.to_reset, known.to_register
        self.aas = aas or [pushing_aa(nodes[0]) for _ in range(AAS)]
        for aa in self.aas:
            if aa.aa_id not in self.journal.newest:
                self.journal.newest[aa.aa_id] = aa.last_window()
        if known.admin.entity_id not in known.secrets:
            known.secrets[known.admin.entity_id] = known.admin.secret()
        work: list[Callable[[], None]] = [
            *(lambda n=n: self._tokens(n) for n in range(len(nodes))),
            *(lambda n=n: self._each(self._resets, self._reset, n) for n in range(len(nodes))),
            *(lambda n=n: self._each(self._entries, self._register, n) for n in range(len(nodes))),
            *(lambda n=n: self._push_all(n) for n in range(AAS)),
        ]
        self._lock = threading.Lock()
        super().__init__(work)

    def _call(self, kind: str, node: int, path: str, **request: object) -> httpx2.Response | None:
        began, status, answer = time.monotonic(), 0, None
        url = self.nodes[node].root + path
        try:
            answer = httpx2.post(url, timeout=TIMEOUT_S, verify=NO_TLS, trust_env=False, **request)  # type: ignore[arg-type]
            status = answer.status_code
        except httpx2.TransportError:
            pass
        self.journal.answers.append(Answer(kind, node, began, time.monotonic(), status))
        if answer is not None and status not in {200, 503, 429}:
            self.journal.surprises.append(f"{kind} {status} {answer.text[:300]}")
        return answer

    def _token(self, node: int, entity_id: str, secret: str) -> int:
        form = {"id": entity_id, "secret": secret}
        try:
            return httpx2.post(
                f"{self.nodes[node].issuer}/v1/entity/token/generate",
                data=form, timeout=TIMEOUT_S, verify=NO_TLS, trust_env=False,
            ).status_code  # fmt: skip
        except httpx2.TransportError:
            return 0

    def _tokens(self, node: int) -> None:
        name = self._known.admin.entity_id
        secret = self._known.secrets[name]
        while not self.over.is_set():
            answer = self._call(
                TOKEN, node, "/iam/v1/entity/token/generate", data={"id": name, "secret": secret}
            )
            if answer is not None and answer.status_code == 200:
                self.journal.given.append(answer.json()["accessToken"])
            time.sleep(self.pauses[TOKEN])

    def _each(self, names: Iterator[str], act: Callable[[int, str], None], node: int) -> None:
        while not self.over.is_set():
            with self._lock:
                name = next(names, None)
            if name is None:
                return
            act(node, name)
            time.sleep(self.pauses[RESET if act == self._reset else REGISTRY])

    def _reset(self, node: int, name: str) -> None:
        """Let both nodes remember the old secret, replace it, and try it again at both."""
        old = self._known.secrets[name]
        for place in range(len(self.nodes)):
            self._token(place, name, old)
        self.journal.undecided_resets.add(name)
        began = time.time()
        answer = self._call(
            RESET, node, "/iam/v1/entity/secret/reset",
            json={"entityId": name}, headers=self._known.bearer,
        )  # fmt: skip
        if answer is None or answer.status_code != 200:
            time.sleep(0.1)
            return
        self.journal.undecided_resets.discard(name)
        self.journal.resets[name] = answer.json()["secret"]
        self.journal.reset_at[name] = began, time.time()
        for place in range(len(self.nodes)):
            if self._token(place, name, old) == 200:
                self.journal.wrong.append(f"{name} at node {place}, reset at {node}")

    def _register(self, node: int, name: str) -> None:
        number = int(name.split("-")[1], 16)
        payload = fip(number % 10_000_000 + 1000, id=name)
        payload["requester"]["id"] = name
        payload["entityinfo"]["certificate"]["kid"] = f"kid-{name}"
        payload["txnid"] = str(uuid.uuid4())
        self.journal.undecided_entries.add(name)
        answer = self._call(
            REGISTRY, node, "/cr/v2/entityInfo/FIP", json=payload, headers=self._known.bearer
        )
        if answer is not None and answer.status_code == 200:
            self.journal.undecided_entries.discard(name)
            self.journal.registered.add(name)

    def _push_all(self, number: int) -> None:
        """Push window after window, each until it is acknowledged, as an agent does."""
        aa, pushed = self.aas[number], self.journal.pushed
        last = self.journal.newest[aa.aa_id]
        place = sum(one.aa_id == aa.aa_id for one in list(pushed.values()))
        while not self.over.is_set():
            payload = aa.requests(last - place * WINDOW, seed=place)
            place += 1
            pushed[payload.txn_id] = payload
            while not self.over.is_set():
                answer = self._call(
                    PUSH, (number + place) % len(self.nodes), "/metrics/perf/v1/push",
                    content=_encoded(payload), headers={"Content-Type": "application/json", **aa.bearer},
                )  # fmt: skip
                if answer is not None and answer.status_code == 200:
                    self.journal.pushes[payload.txn_id] = answer.json()["receiptId"]
                    break
                time.sleep(0.1)
            time.sleep(self.pauses[PUSH])


def _encoded(payload: RequestMetrics) -> bytes:
    return msgspec.json.encode(payload)
