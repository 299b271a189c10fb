"""The rules by which calls count, and for which FIP: shared by all sources."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from mudra.agent.clock import Clock
from mudra.agent.counting.event import MAX_AGE
from mudra.agent.sources.left_out import Reason, SourceMetrics
from mudra.metrics.payload.catalogue import notification_type_of, request_type_of
from mudra.metrics.payload.report import ENTITY_ID

MAX_CACHED: Final = 10_000
MAX_KEPT: Final = 256
"""Characters of a path and its method that are kept: strangers send paths of any length."""
AHEAD: Final = 60_000
"""A source's clock may be this far ahead, in milliseconds."""

_ENTITY_ID: Final = re.compile(ENTITY_ID)
_HEARTBEAT: Final = "/heartbeat"


@dataclass(slots=True)
class Routes:
    """Type codes of calls, with a cache of so many paths, none of which is long."""

    _cache: dict[tuple[bool, str, str], str] = field(default_factory=dict)

    def code(self, method: str, path: str, *, inbound: bool) -> str:
        """Return the code that counts this call; empty when none does.

        Without a method, as in the shape in use today, a heartbeat is a GET and
        every other call a POST.
        """
        path = path.partition("?")[0]
        key = (inbound, method, path)
        found = self._cache.get(key)
        if found is None:
            plain = path.rstrip("/")
            verb = method or ("GET" if plain.lower().endswith(_HEARTBEAT) else "POST")
            kind = (notification_type_of if inbound else request_type_of)(verb, plain)
            found = "" if kind is None else kind.value
            if len(method) + len(path) > MAX_KEPT:
                return found
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[key] = found
        return found


@dataclass(slots=True)
class Peers:
    """The FIPs that a source names, by entity ID or by host."""

    by_host: dict[str, str] = field(default_factory=dict)
    _valid: set[str] = field(default_factory=set)

    def of_host(self, host: str) -> str:
        """Return the FIP at this host (`name` or `name:port`); empty when none is configured."""
        host = host.lower()
        return self.by_host.get(host) or self.by_host.get(host.rpartition(":")[0], "")

    def valid(self, fip: str) -> bool:
        """Return whether this can be an entity ID; otherwise its whole payload would be refused."""
        if fip in self._valid:
            return True
        if _ENTITY_ID.match(fip) is None:
            return False
        if len(self._valid) >= MAX_CACHED:
            self._valid.clear()
        self._valid.add(fip)
        return True


@dataclass(slots=True)
class SourceContext:
    """The surroundings that every source needs to read its events."""

    clock: Clock
    routes: Routes = field(default_factory=Routes)
    peers: Peers = field(default_factory=Peers)
    metrics: SourceMetrics = field(default_factory=SourceMetrics)

    def is_reportable(self, wall: int, now: int) -> bool:
        """Return whether a window of this time can still be reported."""
        if now - MAX_AGE <= wall <= now + AHEAD:
            return True
        ahead = (wall - now) // 1000
        self.metrics.leave_out(Reason.OUT_OF_TIME, f"{ahead:+} s from the agent's clock")
        return False

    def apart(self) -> "SourceContext":
        """Return one that another thread may use; what it leaves out is added to this one later."""
        return replace(self, metrics=SourceMetrics())
