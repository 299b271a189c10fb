"""Sends a page as far as its title, and the rest when its figures are there (decision 0067).

The browser takes up the page, its styles and its menu while the figures are read. What goes
wrong behind the head is shown in the page, and logged and counted as the 500 or 503 that it is.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

import structlog
from litestar import Response
from litestar.datastructures.cookie import Cookie
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Send
from msgspec.structs import replace

from mudra.console.framework.console_errors import page_problem, refusal_text
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import HEADINGS, layout_facts, together
from mudra.console.framework.page_results import Download, Outcome, RenderedPage, StreamedPage
from mudra.console.framework.render import HEADERS, opening, remainder
from mudra.http.response.http_refusals import UNEXPECTED, Unavailable
from mudra.http.server.instrumentation import note_late_fault
from mudra.http.server.page_turns import page_turn
from mudra.localization.language import gettext
from mudra.shared.refusal import Refusal
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.deadline import PAGE_S

_HTML: Final = "text/html"
_log = structlog.get_logger()


def supports_streaming(page_context: PageContext) -> bool:
    """Return whether a browser opens the page: htmx swaps a whole one, and an export is a file."""
    return (
        not page_context.context.request.headers.get("hx-request")
        and "export" not in page_context.query
    )


async def whole(page_context: PageContext, begun: StreamedPage) -> Outcome:
    """Read the rest first, in the transaction of the visit."""
    found = await begun.rest(page_context)
    if isinstance(found, Download):
        return found
    return RenderedPage(begun.template, together(begun.facts, found))


def begin(page_context: PageContext, begun: StreamedPage) -> Response[str]:
    """Send the opening now, and what the rest finds when it is there."""
    facts = together(layout_facts(page_context), begun.facts)
    return _InParts(_parts(page_context, begun, facts, opening(begun.template, facts)))


async def _parts(
    page_context: PageContext, begun: StreamedPage, facts: Mapping[str, object], first: str
) -> AsyncIterator[str]:
    yield first
    yield await _rest(page_context, begun, facts)


async def _rest(page_context: PageContext, begun: StreamedPage, facts: Mapping[str, object]) -> str:
    try:
        dependencies = page_context.dependencies
        opened = dependencies.reads if page_context.on_replica else dependencies.transaction
        async with page_turn(dependencies, page_context.context.request):
            async with opened(within_s=PAGE_S) as tx:
                found = await begun.rest(replace(page_context, tx=tx))
            assert not isinstance(found, Download)  # asked for by "export" alone: see begins_early
            # In a thread: a matrix of a whole network would keep others waiting meanwhile.
            return await asyncio.to_thread(remainder, begun.template, together(facts, found))
    except ServiceUnavailable as error:
        _log.warning("unavailable", cause=error.cause, error=str(error))
        refusal: Refusal = Unavailable(error.sentence)
    except Exception as error:  # noqa: BLE001  # the last catcher: logged, shown and counted as 500
        _log.error("unexpected fault", txn_id=page_context.context.txn_id, exc_info=error)
        refusal = UNEXPECTED
    problem = page_problem(refusal)
    note_late_fault(page_context.context.request.scope, problem.status)
    fault = {
        "heading": gettext(HEADINGS[problem.status]),
        "words": refusal_text(refusal),
        "txn_id": page_context.context.txn_id,
    }
    return remainder(begun.template, {**facts, "fault": fault})


class _InParts(Response[str]):
    """A page whose parts are sent as they come."""

    def __init__(self, parts: AsyncIterator[str]) -> None:
        super().__init__("", media_type=_HTML, headers=HEADERS)
        self._parts = parts

    def to_asgi_response(  # what a page has no use for is left out
        self,
        app: object,  # noqa: ARG002  # the framework's shape
        request: object,  # noqa: ARG002  # the framework's shape
        *,
        headers: Mapping[str, str] | None = None,
        cookies: Iterable[Cookie] | None = None,
        **_: object,
    ) -> ASGIResponse:
        """Send part by part in place of one body."""
        joined = {**(headers or {}), **self.headers}
        return _Sending(iterator=self._parts, headers=joined, cookies=cookies, media_type=_HTML)


class _Sending(ASGIStreamingResponse):
    """Goes on to its end when the reader leaves: to cut a query off costs its connection."""

    async def send_body(self, send: Send, receive: Receive) -> None:  # noqa: ARG002  # the framework's shape
        async for part in self.iterator:
            body = part if isinstance(part, bytes) else part.encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
