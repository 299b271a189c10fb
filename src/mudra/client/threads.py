"""Runs the library for programs with threads: where there is something to wait for, it blocks."""

import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import httpx2

from mudra.client.exchange import Answer, Connected, NoThread, Request, Work, noted
from mudra.shared.waiting.fork_lock import ForkLock

_T = TypeVar("_T")


def run(steps: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that blocks instead of suspending, and return its result.

    Raises what it raises, and TypeError for one that suspends.
    """
    try:
        steps.send(None)
    except StopIteration as done:
        result: _T = done.value
        return result
    steps.close()
    raise TypeError("a coroutine was given to a class for threads: use its Async… twin")


class OnThreads(Connected[httpx2.Client]):
    """A class of the library for programs with threads."""

    def _connect(
        self, http: httpx2.Client | None, timeout: float, auth: httpx2.Auth | None = None
    ) -> None:
        self._http = http or httpx2.Client(timeout=timeout)
        self._auth = auth or httpx2.USE_CLIENT_DEFAULT
        self._locks: dict[str, ForkLock] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    async def _send(self, request: Request) -> Answer:
        with noted(request) as answered:
            answer = self._answer_to(request)
            answered(answer.status)
        return answer

    def _answer_to(self, request: Request) -> Answer:
        body = bytearray()
        with self._http.stream(
            *(request.method, request.url),
            data=request.form,
            headers=request.headers,
            auth=self._auth,
            follow_redirects=False,
        ) as response:
            if request.reads(response.status_code):
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > request.max_bytes:
                        break
        read = bytes(body[: request.max_bytes + 1])
        return Answer(response.status_code, response.headers, read)

    async def _take_turn(self, work: Work) -> None:
        if not work.is_due():
            return
        lock = self._locks.setdefault(work.name, ForkLock())
        if not lock.acquire(blocking=work.must_wait()):
            return
        if not work.in_background or work.must_wait():
            _do(work, lock)
            return
        try:
            threading.Thread(target=_do, args=(work, lock), name=work.name, daemon=True).start()
        except RuntimeError as error:
            lock.release()
            raise NoThread(str(error)) from error


def _do(work: Work, lock: ForkLock) -> None:
    try:
        # Another thread may have done it while this one waited.
        if work.is_due():
            run(work.run())
    finally:
        lock.release()
