"""The needs of the library from the program around it: requests are sent, and callers take turns.

The logic of each class is written once, as coroutines that know neither threads nor an event loop.
`threads` runs them for programs with threads, `tasks` for programs on an event loop.
"""

import contextlib
import logging
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, Generic, NoReturn, TypeVar

import httpx2
import msgspec

from mudra.client.clock import steady

ANSWER_BYTES: Final = 64 * 1024
"""The longest answer to a token request or a push."""
_OK: Final = 200
_log = logging.getLogger("mudra.client")

Http = TypeVar("Http", httpx2.Client, httpx2.AsyncClient)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A GET, or a POST of a form. Of a longer answer one byte more than `max_bytes` is read."""

    url: str
    max_bytes: int
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = {}
    reads_errors: bool = False
    """Whether the body of an answer other than 200 is read too; it is empty otherwise."""

    @property
    def method(self) -> str:
        """Return POST for a form, else GET."""
        return "GET" if self.form is None else "POST"

    def reads(self, status: int) -> bool:
        """Return whether the body of an answer with this status is read."""
        return status == _OK or self.reads_errors


class Answer(msgspec.Struct, frozen=True):
    """The answer to a request; redirects are not followed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Work that one caller at a time does for all callers of an object."""

    name: str
    is_due: Callable[[], bool]
    must_wait: Callable[[], bool]
    """Return whether the caller cannot go on before the work is done."""
    run: Callable[[], Coroutine[Any, Any, None]]
    in_background: bool = False
    """Whether a caller that can go on does so at once, even if it begins the work."""


class NoThread(Exception):
    """Work in the background could not begin: the system gives this process no more threads."""


@contextlib.contextmanager
def noted(request: Request) -> Iterator[Callable[[int], None]]:
    """Log one fetch at DEBUG, by the status that is handed over: never its form, nor what came.

    Raises httpx2.HTTPError, also where httpx2 raises another error: a redirect to a host that
    IDNA 2008 forbids is a ValueError, though no redirect is followed.
    """
    began, outcome = steady(), ["interrupted"]

    def answered(status: int) -> None:
        outcome[0] = str(status)

    try:
        yield answered
    except httpx2.HTTPError as error:
        outcome[0] = type(error).__name__
        raise
    except (httpx2.InvalidURL, ValueError) as error:
        outcome[0] = type(error).__name__
        raise httpx2.RemoteProtocolError("the answer leads to no address") from error
    finally:
        took = steady() - began
        _log.debug("%s %s: %s in %.3f s", request.method, request.url, outcome[0], took)


class Connected(Generic[Http]):
    """Base of each class that has a twin."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be pickled or copied, in words that name the way out."""
        raise TypeError(
            f"{type(self).__name__} has connections and locks, and cannot be pickled or copied: "
            "make one in each process, such as in the initializer of its pool"
        )

    @abstractmethod
    def _connect(self, http: Http | None, timeout: float, auth: httpx2.Auth | None = None) -> None:
        """Begin with the program's client, or a new one of this timeout in seconds."""

    @abstractmethod
    async def _send(self, request: Request) -> Answer:
        """Return the answer to a request; raises httpx2.HTTPError."""

    @abstractmethod
    async def _take_turn(self, work: Work) -> None:
        """Do the work if it is due, or wait for a caller that does it, or go on without it.

        Raises what the work raises, and NoThread.
        """
