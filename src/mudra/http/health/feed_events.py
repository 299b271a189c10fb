"""GET {prefix}/feed/events: sends listeners new states as soon as detection has stored them.

Server-sent events (WHATWG HTML, 9.2). A waiting listener holds no connection to the database:
this worker reads the feed once for all of them, when new states are announced.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import msgspec
import structlog
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream
from msgspec import Struct

from mudra.http.auth.bearer import calling_entity, is_still_admitted
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.response.http_refusals import too_many_listeners
from mudra.http.response.json_response import refusal
from mudra.http.response.response_body import EventStream
from mudra.metrics.health.feed import ApiFeed, HealthFeed
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import PlainRefusal, Refusal
from mudra.shared.unavailable import ServiceUnavailable

MAX_LISTENERS: Final = 500
"""In one worker process."""
MAX_OF_A_MEMBER: Final = 4
HEARTBEAT_S: Final = 15
_READERS: Final = (EntityType.FIU, EntityType.AA)
_TICK_S: Final = 1.0
"""How soon a stream ends with its process."""
_MAX_WAITING: Final = 8
"""Events that wait for a slow listener; then its stream ends."""
_RETRY_S: Final = 30

ReadFeed = Callable[[HttpDependencies], Awaitable[HealthFeed]]
_log = structlog.get_logger()


class ChangedApis(Struct):
    """The data of an event: APIs with another status, reason, cause or `since`, by FIP and name."""

    judged_until: str | None
    fips: dict[str, dict[str, ApiFeed]]


class FeedEvents:
    """The listeners of this worker."""

    def __init__(self, read: ReadFeed) -> None:
        self._read = read
        self._queues: dict[asyncio.Queue[bytes | None], str] = {}
        self._dependencies: HttpDependencies | None = None
        self._last: HealthFeed | None = None
        self._announced = False
        self._publishing: asyncio.Task[None] | None = None

    def announce(self) -> None:
        """Publish what changed; called whenever states may have changed."""
        self._announced = True
        if self._queues and (self._publishing is None or self._publishing.done()):
            self._publishing = asyncio.create_task(self._publish(), name="feed-events")

    def refusal(self, entity_id: str) -> PlainRefusal | None:
        """Returns why a member may not open a further stream; None when it may."""
        of_member = Counter(self._queues.values())[entity_id]
        if len(self._queues) >= MAX_LISTENERS or of_member >= MAX_OF_A_MEMBER:
            return too_many_listeners(_RETRY_S)
        return None

    async def listen(
        self,
        entity_id: str,
        dependencies: HttpDependencies,
        is_allowed: Callable[[], Awaitable[bool]],
    ) -> AsyncIterator[bytes]:
        """Yields events until the process stops, or `is_allowed` is false at a heartbeat."""
        if self.refusal(entity_id):  # taken by another one meanwhile
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_MAX_WAITING)
        self._queues[queue] = entity_id
        self._dependencies = dependencies
        try:
            if self._last is None:
                self._last = await self._read(dependencies)
            yield f"retry: {_RETRY_S * 1000}\nevent: ready\ndata: {{}}\n\n".encode()
            async for event in _events(queue, dependencies, is_allowed):
                yield event
        finally:
            del self._queues[queue]
            if not self._queues:
                self._last = None

    async def _publish(self) -> None:
        while self._announced and self._dependencies is not None:
            self._announced = False
            try:
                feed = await self._read(self._dependencies)
            except ServiceUnavailable as outage:
                _log.warning("feed events cannot be read", outage=str(outage))
                self._send(None)
                return
            before, self._last = self._last, feed
            if before is None or before is feed:
                continue
            change = _change(before, feed)
            # A report that came late changes states of windows that were judged before.
            if change.fips or before.judged_until != change.judged_until:
                self._send(_event(change))

    def _send(self, event: bytes | None) -> None:
        for queue in self._queues:
            if queue.full() or event is None:
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(event)


async def _events(
    queue: asyncio.Queue[bytes | None],
    dependencies: HttpDependencies,
    is_allowed: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    ticks = 0
    while not dependencies.node.stopping:
        try:
            event = await asyncio.wait_for(queue.get(), _TICK_S)
        except TimeoutError:
            ticks += 1
            if ticks % HEARTBEAT_S == 0:
                if not await is_allowed():
                    return
                yield b": heartbeat\n\n"
            continue
        if event is None:
            return
        yield event


def _change(before: HealthFeed, feed: HealthFeed) -> ChangedApis:
    change = ChangedApis(feed.judged_until, {})
    for fip_id, apis in feed.data.fips.items():
        known = before.data.fips.get(fip_id)
        for name in apis.__struct_fields__:
            api: ApiFeed = getattr(apis, name)
            if known is None or _key(getattr(known, name)) != _key(api):
                change.fips.setdefault(fip_id, {})[name] = api
    return change


def _event(change: ChangedApis) -> bytes:
    data = msgspec.json.encode(change)
    return b"event: feed\nid: %b\ndata: %b\n\n" % ((change.judged_until or "").encode(), data)


def _key(api: ApiFeed) -> object:
    return api.status, api.reasons, api.since, api.causes


def feed_events_route(events: FeedEvents) -> HTTPRouteHandler:
    """Returns the handler of the stream."""

    @get(
        "/feed/events",
        operation_class=described(
            "Listen to the health feed",
            None,
            EventStream,
            needs="Entity Access Token of an FIU or AA",
        ),
    )
    async def feed_events(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[bytes] | Stream:
        """Send an event of what changed as soon as a window is judged, also when it is again.

        Server-sent events. The first is `ready`, with the data `{}`: read the feed then. Each
        further one is `feed`: its data has `judged_until`, and in `fips` each API with another
        status, reason, cause or `since`, as the feed has it, by FIP and by name. A comment is sent
        every 15 seconds.

        ```text
        retry: 30000
        event: ready
        data: {}

        event: feed
        id: 2026-01-31T09:40:00.000Z
        data: {"judged_until":"2026-01-31T09:40:00.000Z","fips":{"KAVERI-FIP":{"fi_fetch":{…}}}}

        : heartbeat
        ```

        The stream ends when the token does, when the process stops, or for a listener that is slow:
        connect again. No event is sent twice, so read the feed after each `ready`. A member has at
        most 4 streams at once in each process of the service; one more is 429.
        """
        caller = await calling_entity(request, dependencies, *_READERS)
        refused = caller if isinstance(caller, Refusal) else events.refusal(caller.entity_id)
        if refused is not None or isinstance(caller, Refusal):
            assert refused is not None
            return refusal(new_context(request, dependencies).envelope, refused).response()

        async def is_allowed() -> bool:
            return await is_still_admitted(request, dependencies, *_READERS)

        return Stream(
            events.listen(caller.entity_id, dependencies, is_allowed),
            media_type="text/event-stream",
            headers={
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
                "X-Request-Id": new_context(request, dependencies).txn_id,
            },
        )

    return feed_events
