"""Runs the library for programs on an event loop."""

import asyncio

import httpx2

from mudra.client.exchange import Answer, Connected, Request, Work, noted


async def read_bounded(response: httpx2.Response, max_bytes: int) -> bytes:
    """Return the body of a streamed response, cut one byte after `max_bytes`.

    A response of gigabytes must not fill the memory of a program.
    """
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            break
    return bytes(body[: max_bytes + 1])


class OnTasks(Connected[httpx2.AsyncClient]):
    """A class of the library for programs on an event loop: one instance for each loop."""

    def _connect(
        self, http: httpx2.AsyncClient | None, timeout: float, auth: httpx2.Auth | None = None
    ) -> None:
        self._http = http or httpx2.AsyncClient(timeout=timeout)
        self._auth = auth or httpx2.USE_CLIENT_DEFAULT
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def aclose(self) -> None:
        """End what is under way and close the connections."""
        for task in list(self._tasks.values()):
            task.cancel()
            await asyncio.wait({task})
        await self._http.aclose()

    async def _send(self, request: Request) -> Answer:
        with noted(request) as answered:
            answer = await self._answer_to(request)
            answered(answer.status)
        return answer

    async def _answer_to(self, request: Request) -> Answer:
        async with self._http.stream(
            *(request.method, request.url),
            data=request.form,
            headers=request.headers,
            auth=self._auth,
            follow_redirects=False,
        ) as response:
            reads = request.reads(response.status_code)
            body = await read_bounded(response, request.max_bytes) if reads else b""
        return Answer(response.status_code, response.headers, body)

    async def _take_turn(self, work: Work) -> None:
        if not work.is_due():
            return
        task = self._tasks.get(work.name)
        if task is not None and not task.done():
            if not work.must_wait():
                return
            await asyncio.shield(task)
            if not work.is_due():
                return
        task = self._tasks.get(work.name)
        if task is None or task.done():
            # Of its own: a call that is cancelled leaves the result to those who wait for it.
            task = asyncio.create_task(work.run(), name=work.name)
            self._tasks[work.name] = task
        if not work.in_background or work.must_wait():
            await asyncio.shield(task)
