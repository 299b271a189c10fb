"""The systems of one demonstration AA: its calls, as AA applications report them to an agent.

Pure: the calls follow from the traffic's rates and the dice, and the caller
passes the time. Events and bodies have the shapes that AAs send today.
"""

import heapq
import itertools
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from mudra.demo.traffic import (
    FAILING_PERCENT,
    NOTICE_SHARES,
    PACKET_BYTES,
    SHARES,
    SLOWER_IN_DISRUPTION,
    USUAL_MS,
    USUAL_NOTICE_MS,
    Traffic,
)
from mudra.metrics.payload.catalogue import (
    NOTIFICATION_CALLS,
    REQUEST_CALLS,
    WINDOW_SECONDS,
    Call,
    NotificationType,
    RequestType,
)

SendEvent = dict[str, object]
"""One event as it is sent to `/sna/v1/aa`."""

MAX_STEP_MS: Final = 60_000
"""After a longer pause, as when the sandbox's clock moved, calls in progress are dropped."""
_NO_ANSWER_MS: Final = 31_000
_DONE: Final = 0.93
_FAILED: Final = 0.04
_FIRST_PENDING: Final = 0.2


@dataclass(slots=True)
class Systems:
    """The simulated calls of one AA's systems, second by second."""

    traffic: Traffic
    dice: random.Random
    _reported_to: int = 0
    _later: list[tuple[int, int, SendEvent]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=itertools.count)

    def until(self, now: int) -> list[SendEvent]:
        """Returns the events since the last call up to now, in order; milliseconds since 1970."""
        since, self._reported_to = self._reported_to, now
        if not 0 < now - since <= MAX_STEP_MS:
            self._later.clear()
            return []
        moment = datetime.fromtimestamp(now / 1000, UTC)
        for place, fip in enumerate(self.traffic.fip_ids):
            load = self.traffic.load(place, moment) * (now - since) / (WINDOW_SECONDS * 1000)
            for code, call in REQUEST_CALLS.items():
                for _ in range(self._number(load * SHARES[code])):
                    self._call(fip, code, call, self.dice.randint(since, now), moment)
            for notice, share in NOTICE_SHARES.items():
                for _ in range(self._number(load * share)):
                    self._receive(fip, notice, self.dice.randint(since, now), {})
        due = []
        while self._later and self._later[0][0] <= now:
            due.append(heapq.heappop(self._later)[2])
        return due

    def _number(self, mean: float) -> int:
        return int(mean) + (self.dice.random() < mean % 1)

    def _call(self, fip: str, code: RequestType, call: Call, at: int, moment: datetime) -> None:
        hits = [one for one in self.traffic.disruptions if one.hits(fip, code, moment)]
        failing = max((one.failing_percent for one in hits), default=FAILING_PERCENT)
        took = int(self.dice.lognormvariate(*USUAL_MS)) * (SLOWER_IN_DISRUPTION if hits else 1)
        key = str(uuid.UUID(int=self.dice.getrandbits(128)))
        self._add_event(at, "requestOut", fip, call, key)
        if self.dice.random() * 100 < failing:
            status = self.dice.choice((503, 503, 504, None))
            self._add_event(
                at + (took if status else _NO_ANSWER_MS), "responseIn", fip, call, key, status
            )
            return
        status = 404 if self.dice.random() < 0.02 else 200  # noqa: PLR2004  # as in the payloads
        body: SendEvent | None = None
        if status == 200 and code is RequestType.FI_REQUEST:  # noqa: PLR2004  # an HTTP status
            body = {"consentId": key, "sessionId": key}
            self._end_session(fip, key, at + took)
        elif status == 200 and code is RequestType.FI_FETCH:  # noqa: PLR2004  # an HTTP status
            packet = "x" * self.dice.randint(*PACKET_BYTES)
            body = {"FI": [{"fipID": fip, "data": [{"encryptedFI": packet}]}]}
        self._add_event(at + took, "responseIn", fip, call, key, status, body)

    def _end_session(self, fip: str, session: str, at: int) -> None:
        """Adds the FIP's notifications about requested data; some sessions never end."""
        ready_at = at + int(self.dice.lognormvariate(*USUAL_NOTICE_MS))
        if self.dice.random() < _FIRST_PENDING:
            self._receive(
                fip, NotificationType.FI, (at + ready_at) // 2, _notice(session, fip, "PENDING")
            )
        chance = self.dice.random()
        if chance < _DONE:
            self._receive(fip, NotificationType.FI, ready_at, _notice(session, fip, "READY"))
        elif chance < _DONE + _FAILED:
            status = self.dice.choice(("DENIED", "TIMEOUT"))
            self._receive(fip, NotificationType.FI, ready_at, _notice(session, fip, status))

    def _receive(self, fip: str, code: NotificationType, at: int, body: SendEvent) -> None:
        call = NOTIFICATION_CALLS[code]
        key = str(uuid.UUID(int=self.dice.getrandbits(128)))
        self._add_event(at, "requestIn", fip, call, key, body=body)
        answered = at + self.dice.randint(5, 60)
        self._add_event(answered, "responseOut", fip, call, key, 200, {"response": "OK"})

    def _add_event(  # the fields of an event
        self,
        at: int,
        kind: str,
        fip: str,
        call: Call,
        key: str,
        status: int | None = None,
        body: SendEvent | None = None,
    ) -> None:
        event: SendEvent = {
            "callType": kind,
            "method": call.method,
            "route": f"/v2{call.route}",
            "peerId": fip,
            "peerType": "FIP",
            "txnCorId": key,
            "timestamp": at,
            "httpStatus": status,
            "body": body,
        }
        heapq.heappush(self._later, (at, next(self._order), event))


def _notice(session: str, fip: str, status: str) -> SendEvent:
    return {
        "Notifier": {"type": "FIP", "id": fip},
        "FIStatusNotification": {
            "sessionId": session,
            "sessionStatus": "ACTIVE" if status == "PENDING" else "COMPLETED",
            "FIStatusResponse": [{"fipID": fip, "Accounts": [{"FIStatus": status}]}],
        },
    }
