"""An answer of the public status is made once for all its readers, and few are kept."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

from litestar import Response
from litestar.datastructures import Headers
from msgspec.structs import replace

from mudra.console.pages.public.status.status_cache import CachedStatus, StatusCache
from mudra.levels.printing.published import LevelsReader
from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.metrics.public_status.status_history import StatusSnapshot
from mudra.metrics.public_status.status_snapshot import StatusReader

NOW = datetime(2026, 11, 23, 3, tzinfo=UTC)
SNAPSHOT = StatusSnapshot(NOW, [], [], 0, 0, 0, 0)
HINDI = Languages().find("hi") or ENGLISH
MOST = 40


class Readers:
    """Ask one cache for pages; `made` counts how often one was made, by its query."""

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        self.now = NOW
        self._cache = StatusCache(Path(), StatusReader(), LevelsReader(), monotonic)

    async def ask(
        self, query: str = "", snapshot: StatusSnapshot = SNAPSHOT, **headers: str
    ) -> Response[Any]:
        def made() -> Response[str]:
            self.made[query] += 1
            return Response("x" * 2_000, media_type="text/html")

        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        request: Any = SimpleNamespace(
            headers=Headers(sent), scope={"path": "/status", "query_string": query.encode()}
        )
        dependencies: Any = SimpleNamespace(clock=lambda: self.now)
        cached = CachedStatus(snapshot, fresh=True)
        return await self._cache.answer(request, dependencies, cached, made)


def test_many_readers_of_a_page_have_it_made_and_packed_once() -> None:
    readers = Readers()

    async def story() -> None:
        answers = await asyncio.gather(*(readers.ask(accept_encoding="gzip") for _ in range(8)))
        plain = await readers.ask()
        known = await readers.ask(if_none_match=str(plain.headers["ETag"]))

        assert len({id(one.content) for one in answers}) == 1
        assert answers[0].headers["Content-Encoding"] == "gzip"
        assert plain.content == b"x" * 2_000
        assert "Content-Encoding" not in plain.headers
        assert (known.status_code, known.content) == (304, b"")

    asyncio.run(story())
    assert readers.made == {"": 1}


def test_a_page_is_made_again_of_another_status_in_another_minute_and_language() -> None:
    readers = Readers()

    async def story() -> None:
        await readers.ask()
        await readers.ask(snapshot=replace(SNAPSHOT, windows_received=1))
        readers.now += timedelta(minutes=1)
        await readers.ask(snapshot=replace(SNAPSHOT, windows_received=1))
        with written_in(HINDI):
            await readers.ask()

    asyncio.run(story())
    assert readers.made == {"": 4}


def test_addresses_that_a_stranger_invents_are_forgotten() -> None:
    readers = Readers()

    async def story() -> None:
        for number in range(MOST + 1):
            await readers.ask(f"q={number}")
        await readers.ask(f"q={MOST}")
        await readers.ask("q=0")

    asyncio.run(story())
    assert readers.made["q=0"] == 2
    assert readers.made[f"q={MOST}"] == 1
