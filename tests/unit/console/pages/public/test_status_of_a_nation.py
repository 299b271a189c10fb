"""The public status of 2,000 institutions: small, search first, disrupted ones on top."""

import asyncio
import gzip
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import pytest
from litestar import Response
from litestar.datastructures import Headers
from msgspec.structs import asdict, replace

from mudra.console.pages.public.status import status_downloads
from mudra.console.pages.public.status import status_pages as pages
from mudra.console.pages.public.status.status_cache import CachedStatus, StatusCache
from mudra.console.pages.public.status.status_files import ATOM, atom_feed, badge
from mudra.console.pages.public.status.status_headline import who
from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.metrics.announcements.announcement import Kind
from mudra.metrics.health.health import Status
from mudra.metrics.incidents.incident import Ending
from mudra.metrics.public_status.public_rows import PublicRow
from mudra.metrics.public_status.status_history import (
    Day,
    DayState,
    FipHistory,
    PublicAnnouncement,
    PublicIncident,
    StatusSnapshot,
)
from mudra.metrics.public_status.status_snapshot import StatusReader
from mudra.shared.unavailable import DatabaseUnavailable

PAGE = 15

NOW = datetime(2026, 11, 23, 3, tzinfo=UTC)
MANY = 2_000
MAX_BYTES = 50_000
APIS = ("discovery", "linking", "consent", "fi_request", "fi_fetch")
BROKEN = "FIP-1777"
GROUPS = (("deposits",), ("deposits", "funds"), ("funds",), ("insurance",), ("gold-loans",))
SAID = [
    PublicAnnouncement(
        str(number), Kind.INCIDENT, f"Title {number}", "Word " * 119, (), (), NOW, None, None,
        None if number < 20 else NOW, NOW,
    )
    for number in range(100)
]  # fmt: skip
"""The most that the page may have: 20 current ones of the longest text, and a history."""


def institution(number: int) -> FipHistory:
    days = [
        Day(
            date(2026, 8, 26) + timedelta(days=day),
            [DayState.GOOD, DayState.GOOD, DayState.PARTLY, DayState.BAD][(number * day) % 17 % 4],
            1_000 + number * day,
            99.5,
        )
        for day in range(90)
    ]
    rows = [
        PublicRow(
            fip_id=f"FIP-{number:04}", api=api, status=Status.GOOD, requests=number + 200,
            success_percentage=99.1, timeout_percentage=0.1, server_error_percentage=0.3,
            not_found_percentage=0.2, other_client_error_percentage=0.3,
            p50=100 + number, p95=500 + number, p99=900 + number,
        )
        for api in APIS
    ]  # fmt: skip
    groups = GROUPS[number % len(GROUPS)]
    return FipHistory(
        f"FIP-{number:04}",
        f"Gramin Bank of District {number:04}",
        days,
        rows,
        DayState.GOOD,
        groups,
    )


def incident(fip_id: str, number: int, ended: datetime | None) -> PublicIncident:
    began = NOW - timedelta(hours=2 + number)
    ending = Ending.RECOVERED if ended else Ending.OPEN
    return PublicIncident(fip_id, "fif", began, began, began, ended, ending, 3, 40.0)


SNAPSHOT = StatusSnapshot(
    NOW,
    [institution(number) for number in range(MANY)],
    [
        incident(BROKEN, 0, None),
        *(incident(f"FIP-{one:04}", one % 200, NOW) for one in range(300)),
    ],
    20, 20, 5_760, 5_760, NOW,
)  # fmt: skip


LANGUAGES = Languages()


class Cache(StatusCache):
    def __init__(self, snapshot: StatusSnapshot) -> None:
        unpublished: Any = Unpublished()
        super().__init__(Path(), StatusReader(), unpublished, monotonic)
        self.snapshot = snapshot

    async def get(self, _: object) -> CachedStatus:
        return CachedStatus(self.snapshot, fresh=True)


def get(
    handler: Any,
    headers: dict[str, str] | None = None,
    snapshot: StatusSnapshot = SNAPSHOT,
    **query: str,
) -> Response[bytes]:
    settings = SimpleNamespace(
        network_name="A Nation",
        token_prefix="/iam",
        issuer="https://mudra.example/iam",
        sandbox=True,
        smtp_url=None,
        status_license="https://license.example/",
        time_zone="UTC",
    )
    dependencies = SimpleNamespace(settings=settings, clock=lambda: NOW, languages=LANGUAGES)
    sent = {"accept-encoding": "gzip, br"} if headers is None else headers
    address = SimpleNamespace(path="/status/feed.atom")
    scope = {"path": address.path, "query_string": urlencode(query).encode()}
    request = SimpleNamespace(query_params=query, headers=Headers(sent), url=address, scope=scope)
    answer: Response[bytes] = asyncio.run(handler.fn(request, dependencies, Cache(snapshot)))
    return answer


def text_of(answer: Response[bytes]) -> str:
    return gzip.decompress(answer.content).decode()


def names(page: str) -> list[str]:
    return re.findall(r'<h3><a href="/status/fip/([^"]+)">[^<]*</a></h3>', page)


def test_the_first_answer_is_small_and_has_the_disrupted_on_top() -> None:
    answer = get(pages.status)

    assert len(answer.content) < MAX_BYTES, len(answer.content)
    page = text_of(answer)
    assert len(names(page)) == PAGE
    assert names(page)[0] == BROKEN
    assert page.index('type="search"') < page.index("Open incidents") < page.index(BROKEN)
    assert "2,000 institutions, disrupted ones first" in page
    assert f"Page 1 of {-(-MANY // PAGE)}" in page


def test_of_a_few_the_operational_ones_wait_in_one_fold_and_none_is_on_another_page() -> None:
    fips = [*SNAPSHOT.fips[400:459], SNAPSHOT.fips[1777]]
    few = replace(SNAPSHOT, fips=fips, incidents=[incident(BROKEN, 0, None)])
    first, found = (
        text_of(get(pages.status, snapshot=few, **query)) for query in ({}, {"q": "bank"})
    )

    assert first.index(BROKEN) < first.index("59 operational institutions</summary>")
    assert "operational institutions</summary>" not in found
    assert len(names(first)) == len(names(found)) == 60
    assert "Page 1 of" not in first + found


def test_of_a_nation_none_is_hidden_in_a_fold_as_pages_follow() -> None:
    for query in ({}, {"page": "2"}, {"q": "bank"}):
        page = text_of(get(pages.status, **query))
        assert "operational institutions</summary>" not in page
        assert len(names(page)) == PAGE


def test_an_answer_with_several_institutions_is_the_list_and_with_one_its_incidents() -> None:
    said = [replace(SAID[0], title="For all"), replace(SAID[1], fip_ids=(BROKEN,), title="Only it")]
    spoken = replace(SNAPSHOT, announcements=said)
    several, one = (
        text_of(get(pages.status, snapshot=spoken, q=words)) for words in ("fip-17", BROKEN)
    )

    assert "<h1>100 institutions found</h1>" in several
    for shown in ("Open incidents", "For all", "Only it", 'class="banner bad"'):
        assert shown not in several
    assert "Open incidents" in one
    assert "Only it" in one
    assert "For all" not in one


def test_in_hindi_it_is_as_small_and_is_grouped_as_in_india() -> None:
    crowd = [institution(number) for number in range(1, 3)] * 60_000
    answer = get(pages.status, lang="hi")
    page = text_of(answer)

    assert len(answer.content) < MAX_BYTES, len(answer.content)
    assert names(page)[0] == f"{BROKEN}?lang=hi"
    assert "2,000 संस्थाएँ, बाधित संस्थाएँ पहले" in page
    assert "26 अग॰ 2026" in page
    with written_in(LANGUAGES.find("hi") or ENGLISH):
        assert who([one.name for one in crowd], len(crowd)) == ("1,20,000 में से 1,20,000 संस्थाओं")


def test_groups_are_filters_with_counts_that_stay_while_one_pages_and_searches() -> None:
    everything = text_of(get(pages.status))
    funds = text_of(get(pages.status, group="funds"))
    found = text_of(get(pages.status, group="funds", q="district 000"))
    hindi = text_of(get(pages.status, group="funds", lang="hi"))

    assert filters(everything) == [
        ("All", "2,000"), ("Banking deposits", "800"), ("Funds", "800"), ("Insurance", "400"),
        ("Gold loans", "400"),
    ]  # fmt: skip
    assert 'href="/status?group=funds#institutions"' in everything
    assert filters(funds) == filters(everything)
    assert "800 of 2,000 institutions, disrupted ones first · Funds" in funds
    assert "Page 1 of 54" in funds
    assert 'href="?group=funds&amp;page=2#institutions" rel="next"' in funds
    assert '<input type="hidden" name="group" value="funds">' in funds
    assert ("Funds", "4") in filters(found)
    assert 'href="/status?q=district+000&amp;group=deposits#institutions"' in found
    assert ("फ़ंड", "800") in filters(hindi)
    assert filters(text_of(get(pages.status, group="<b>"))) == filters(everything)


def filters(page: str) -> list[tuple[str, str]]:
    return re.findall(r'#institutions"[^>]*>([^<]+) <span class="count">([^<]+)</span>', page)


def test_as_many_announcements_as_there_may_be_leave_the_page_small() -> None:
    said = replace(SNAPSHOT, announcements=SAID)

    answer = get(pages.status, snapshot=said)
    page = text_of(answer)

    assert len(answer.content) < MAX_BYTES, len(answer.content)
    assert page.count('<article class="incident" id="announcement-') == 20
    assert page.count('<details class="incident" id="announcement-') == 5


def test_words_in_any_order_find_an_institution() -> None:
    assert names(text_of(get(pages.status, q="1234 gramin"))) == ["FIP-1234"]
    assert names(text_of(get(pages.status, q="fip-1234"))) == ["FIP-1234"]
    assert names(text_of(get(pages.status, q="fip"))) == []
    assert names(text_of(get(pages.status, q="ip-1234"))) == []
    many = text_of(get(pages.status, q="fip-12"))
    assert "<h1>100 institutions found</h1>" in many
    assert ("All", "100") in filters(many)
    assert "<h1>1 institution found</h1>" in text_of(get(pages.status, q="fip-1234"))
    none = text_of(get(pages.status, q="nowhere <b>"))
    assert "No institution has these words" in none
    assert "<b>" not in none


def test_a_page_beyond_the_last_is_the_last() -> None:
    for asked in ("134", "99999", "9" * 9):
        assert "Page 134 of 134" in text_of(get(pages.status, page=asked))
    for asked in ("0", "-1", "x", "9" * 300):
        assert "Page 1 of 134" in text_of(get(pages.status, page=asked))


def test_who_has_it_gets_nothing_again() -> None:
    first = get(pages.status, {})
    tag = first.headers["ETag"]

    again = get(pages.status, {"if-none-match": tag, "accept-encoding": "gzip"})

    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert "Content-Encoding" not in first.headers
    assert first.headers["Vary"] == "Accept-Encoding, Accept-Language"
    assert "max-age" in first.headers["Cache-Control"]


def test_the_feed_has_the_latest_incidents_first() -> None:
    feed = ET.fromstring(gzip.decompress(get(status_downloads.status_feed).content))  # our own
    atom = "{http://www.w3.org/2005/Atom}"
    entries = feed.findall(f"{atom}entry")

    assert 0 < len(entries) <= 50
    updated = [one.findtext(f"{atom}updated") or "" for one in entries]
    assert updated == sorted(updated, reverse=True)
    ids = [one.findtext(f"{atom}id") or "" for one in entries]
    assert len(set(ids)) == len(ids)
    assert all(one.startswith("https://mudra.example/status/fip/FIP-") for one in ids)


def elements(parent: ET.Element, name: str) -> list[ET.Element]:
    return parent.findall(f"{{http://www.w3.org/2005/Atom}}{name}")


def is_atom(part: ET.Element, allowed: set[str]) -> None:
    """What RFC 4287 requires of a feed and of an entry alike (4.1.1, 4.1.2, 4.2.6, 3.3)."""
    (title,), (identity,), (updated,) = (elements(part, one) for one in ("title", "id", "updated"))
    assert title.text
    assert (identity.text or "").startswith("https://")
    assert datetime.fromisoformat(updated.text or "").tzinfo is not None
    assert {one.tag.partition("}")[2] for one in part} <= allowed
    alternates = [one for one in elements(part, "link") if one.get("rel", "alternate") != "self"]
    assert [one.get("rel") for one in alternates] == [None]
    assert (alternates[0].get("href") or "").startswith("https://mudra.example/status")


@pytest.mark.parametrize("fip_id", ["", BROKEN])
def test_the_feeds_are_what_rfc_4287_calls_atom(fip_id: str) -> None:
    made = atom_feed(
        replace(SNAPSHOT, announcements=SAID[18:22]),
        "A Nation: incidents",
        "https://mudra.example/status",
        fip_id,
    )
    feed = ET.fromstring(made)  # our own

    assert get(status_downloads.status_feed).media_type == ATOM == "application/atom+xml"
    assert feed.tag == "{http://www.w3.org/2005/Atom}feed"
    is_atom(feed, {"title", "id", "updated", "link", "author", "entry"})
    (own,) = [one for one in elements(feed, "link") if one.get("rel") == "self"]
    assert (own.get("href") or "").endswith("/feed.atom")
    assert elements(elements(feed, "author")[0], "name")[0].text  # so that entries need none
    entries = elements(feed, "entry")
    assert entries
    for entry in entries:
        is_atom(entry, {"title", "id", "updated", "published", "link", "summary"})


def test_a_badge_holds_no_markup_of_a_name() -> None:
    made = badge("<script>alert(1)</script> Bank", "Operational", "good").decode()

    assert "<script>" not in made
    assert "Operational" in made


def test_a_filter_shows_the_open_incidents_of_what_it_found_and_each_leads_to_its_page() -> None:
    everything = text_of(get(pages.status))
    broken = text_of(get(pages.status, q="1777", lang="hi"))
    well = text_of(get(pages.status, q="1776"))
    none = text_of(get(pages.status, q="nowhere"))

    assert f'<h3><a href="/status/fip/{BROKEN}">Gramin Bank of District 1777</a>, FI' in everything
    assert f'<h3><a href="/status/fip/{BROKEN}?lang=hi">' in broken
    assert 'id="open-now"' not in well
    assert ">None.<" in well
    assert 'id="incidents"' not in none


def test_the_table_of_apis_separates_institutions_of_one_name() -> None:
    twins = [replace(institution(number), name="Janata Bank") for number in (1, 2)]
    page = text_of(get(pages.status, snapshot=replace(SNAPSHOT, fips=twins)))

    cells = re.findall(r'href="/status/fip/[^"]+">(Janata Bank[^<]*)</a></td>', page)
    assert set(cells) == {"Janata Bank (FIP-0001)", "Janata Bank (FIP-0002)"}


class Readings:
    """Reads of the database: one that is answered, and none after it."""

    def __init__(self) -> None:
        self._left = [SNAPSHOT]

    async def read(self, *_: object) -> StatusSnapshot:
        if not self._left:
            raise DatabaseUnavailable
        return self._left.pop()


class Unpublished:
    """A network that publishes no service levels."""

    async def read(self, *_: object) -> None:
        return None


@pytest.mark.parametrize(
    ("later", "fresh"), [(timedelta(minutes=29), True), (timedelta(days=1), False)]
)
def test_a_process_that_starts_shows_what_another_one_kept(
    tmp_path: Path, later: timedelta, fresh: bool
) -> None:
    readings: Any = Readings()
    levels: Any = Unpublished()

    async def first_of_a_process(now: datetime) -> CachedStatus | None:
        cache = StatusCache(tmp_path, readings, levels, monotonic)
        given: Any = SimpleNamespace(reads=None, clock=lambda: now)
        return await cache.get(given)

    asyncio.run(first_of_a_process(NOW))
    found = asyncio.run(first_of_a_process(NOW + later))

    assert found is not None
    assert found.fresh is fresh
    assert [fip.days for fip in found.snapshot.fips] == [fip.days for fip in SNAPSHOT.fips]
    assert asdict(replace(found.snapshot, fips=[])) == asdict(replace(SNAPSHOT, fips=[]))
