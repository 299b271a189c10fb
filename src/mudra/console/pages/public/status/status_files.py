"""The files of the public status for other programs: feeds of incidents (Atom, RSS), and badges."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from msgspec import Struct

from mudra.console.pages.public.status.status_lines import STATES, FipState, names_of
from mudra.metrics.health.api_names import api_names
from mudra.metrics.incidents.incident import Effect, Ending
from mudra.metrics.notifications.alarm import symptoms_text
from mudra.metrics.public_status.status_history import (
    DayState,
    PublicAnnouncement,
    PublicIncident,
    StatusSnapshot,
)

MAX_ENTRIES: Final = 50
ATOM: Final = "application/atom+xml"
RSS: Final = "application/rss+xml"
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
_COLORS: Final = {"good": "#0d6b46", "warn": "#7a4300", "bad": "#a3161b", "quiet": "#51606f"}
_CHARACTER_PX: Final = 6.6
"""The width of a character at 11 px, on average, rounded up."""
_PADDING: Final = 12
_MAX_LABEL: Final = 40


def atom_feed(snapshot: StatusSnapshot, title: str, root: str, fip_id: str = "") -> bytes:
    """Returns the latest incidents and announcements (RFC 4287), of all institutions or of one.

    `root` is the address of the status page. An incident that ends changes its entry.
    """
    found = _items(snapshot, root, fip_id)
    page = _page(root, fip_id) if fip_id else root
    feed = ET.Element("feed", xmlns=_NAMESPACE)
    _add(feed, "title", title)
    _add(feed, "id", page)
    _add(feed, "updated", _instant(found[0].updated if found else snapshot.as_of))
    ET.SubElement(feed, "link", href=page)
    ET.SubElement(feed, "link", rel="self", href=f"{page}/feed.atom")
    ET.SubElement(ET.SubElement(feed, "author"), "name").text = title
    for one in found:
        entry = ET.SubElement(feed, "entry")
        _add(entry, "title", one.title)
        _add(entry, "id", one.id)
        _add(entry, "updated", _instant(one.updated))
        _add(entry, "published", _instant(one.published))
        ET.SubElement(entry, "link", href=one.page)
        _add(entry, "summary", one.summary)
    return _written(feed)


def rss_feed(snapshot: StatusSnapshot, title: str, root: str, fip_id: str = "") -> bytes:
    """Returns the same as RSS 2.0, for readers that know no Atom.

    A reader of RSS shows an item once: one that has ended is an item of its own.
    """
    page = _page(root, fip_id) if fip_id else root
    feed = ET.Element("rss", version="2.0")
    channel = ET.SubElement(feed, "channel")
    _add(channel, "title", title)
    _add(channel, "link", page)
    _add(channel, "description", title)
    for one in _items(snapshot, root, fip_id):
        item = ET.SubElement(channel, "item")
        _add(item, "title", one.title)
        _add(item, "link", one.page)
        _add(item, "description", one.summary)
        guid = f"{one.id}#update-{one.update}" if one.update else one.id
        guid = guid if one.is_open else f"{one.id}#ended"
        ET.SubElement(item, "guid", isPermaLink="false").text = guid
        _add(item, "pubDate", format_datetime(one.updated.astimezone(UTC), usegmt=True))
    return _written(feed)


def badge(label: str, state: str, tone: str) -> bytes:
    """Returns a badge (SVG) such as "Kaveri Bank | Operational"."""
    label = label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
    left, right = (round(len(text) * _CHARACTER_PX) + _PADDING for text in (label, state))
    size = {"width": str(left + right), "height": "20"}
    named = {"role": "img", "aria-label": f"{label}: {state}"}
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, **named})
    _add(svg, "title", f"{label}: {state}")
    ET.SubElement(svg, "rect", width=str(left), height="20", fill="#33404d")
    ET.SubElement(svg, "rect", x=str(left), width=str(right), height="20", fill=_COLORS[tone])
    font = {
        "fill": "#fff", "font-family": "Verdana,Geneva,DejaVu Sans,sans-serif", "font-size": "11",
        "text-anchor": "middle",
    }  # fmt: skip
    for text, middle in ((label, left / 2), (state, left + right / 2)):
        ET.SubElement(svg, "text", {**font, "x": f"{middle:g}", "y": "14"}).text = text
    return _written(svg)


def badge_of_all(states: Sequence[FipState], label: str) -> bytes:
    """Returns the badge of the whole network."""
    bad = sum(one.tone == "bad" for one in states)
    known = any(one.tone != "quiet" for one in states)
    few = any(one.state == STATES[DayState.TOO_FEW][0] for one in states)
    if bad:
        return badge(label, f"{bad} of {len(states)} disrupted", "bad")
    if known:
        return badge(label, "Operational", "good")
    return badge(label, "Too few calls" if few else "No data", "quiet")


class _Item(Struct, frozen=True):
    """An incident or an announcement as a feed has it."""

    title: str
    id: str
    page: str
    summary: str
    published: datetime
    updated: datetime
    is_open: bool
    update: int = 0
    """The number of updates: each is an item of its own for readers of RSS."""


def _items(snapshot: StatusSnapshot, root: str, fip_id: str) -> Sequence[_Item]:
    """Returns the latest incidents and announcements, of all institutions or of one."""
    names = names_of(snapshot.fips)
    found = [
        _item(one, names.get(one.fip_id, one.fip_id), root)
        for one in snapshot.incidents
        if fip_id in {"", one.fip_id}
    ]
    found += [_announced(one, root) for one in snapshot.announcements if one.concerns(fip_id)]
    found.sort(key=lambda one: one.updated, reverse=True)
    return found[:MAX_ENTRIES]


def _announced(one: PublicAnnouncement, root: str) -> _Item:
    """Returns an announcement with its updates: one item, also when it is over."""
    page = _page(root, one.fip_ids[0]) if len(one.fip_ids) == 1 else root
    said = one.updates[::-1]
    return _Item(
        title=one.title,
        id=f"{root}#announcement-{one.announcement_id}",
        page=page,
        summary="\n".join([*(f"{_instant(each.at)}: {each.text}" for each in said), one.text]),
        published=one.published,
        updated=one.updated,
        is_open=True,
        update=len(said),
    )


def _item(one: PublicIncident, name: str, root: str) -> _Item:
    what = api_names(one.type) if one.type else "all APIs"
    over = "changed for good" if one.ending is Ending.CHANGED else "over"
    state = symptoms_text(one.symptoms) if one.ended is None else over
    page = _page(root, one.fip_id)
    return _Item(
        title=f"{name}: {what} {state}",
        id=f"{page}#{_instant(one.began)}{one.type}",
        page=page,
        summary=_summary(one),
        published=one.noticed,
        updated=_updated(one),
        is_open=one.ended is None,
    )


def _summary(one: PublicIncident) -> str:
    share, text = one.success_percentage, symptoms_text(one.symptoms)
    what = text[:1].upper() + text[1:]
    counted = "" if share is None else f" {share} % of the calls succeeded."
    if one.effect is Effect.POSSIBLY_DISRUPTED:
        counted += " One AA alone sees it: it may be that AA or its connection."
    if one.ended is None:
        return f"{what} since {_instant(one.began)}.{counted}"
    return f"{what} from {_instant(one.began)} to {_instant(one.ended)}.{counted}"


def _updated(one: PublicIncident) -> datetime:
    return one.updated or max(one.noticed, one.ended or one.noticed)


def _page(root: str, fip_id: str) -> str:
    return f"{root}/fip/{quote(fip_id, safe='')}"


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text


def _written(root: ET.Element) -> bytes:
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return body
