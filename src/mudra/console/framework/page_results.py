"""The results of a page's use case, before they are framed as HTTP."""

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct, field

from mudra.console.framework.page_context import PageContext
from mudra.identity.sessions.console_sessions import BegunSession
from mudra.shared.refusal import Refusal


class RenderedPage(Struct, frozen=True):
    """A page: its template, the values of the template, and the HTTP status.

    `begun` is the session that the page begins in place of its visitor's.
    """

    template: str
    facts: Mapping[str, object] = field(default_factory=dict)
    status: int = 200
    begun: BegunSession | None = None


class GoTo(Struct, frozen=True):
    """A redirect (303) to another page of the console, so that a reload repeats nothing.

    The browser is given the session that has `begun`, or loses the one that it `ends`, and stores
    a `language` that was chosen (empty for the network's).
    """

    path: str
    begun: BegunSession | None = None
    ends: bool = False
    language: str | None = None


class Download(Struct, frozen=True):
    """A file that the browser saves."""

    name: str
    media_type: str
    body: bytes


class StreamedPage(Struct, frozen=True):
    """A page (200) that is sent as far as its title, and then what `rest` finds (decision 0067).

    `facts` are those of the template's `opening`. `rest` reads those of `figures`, in a
    transaction of its own, and can refuse nothing any more; it gives a file only where the
    address asks for an export.
    """

    template: str
    facts: Mapping[str, object]
    rest: Callable[[PageContext], Awaitable[Mapping[str, object] | Download]]


class LongAct(Struct, frozen=True):
    """Work that begins when the transaction of its page or form has ended."""

    run: Callable[[], Awaitable[RenderedPage | GoTo | Download | Refusal]]


Outcome = RenderedPage | StreamedPage | GoTo | Download | Refusal
"""The result of a page's handler. A refusal becomes a page with its sentence."""
