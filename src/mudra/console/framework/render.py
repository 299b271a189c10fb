"""The template environment of all pages: autoescape on, undefined names are errors."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import takewhile
from typing import Final

import jinja2
from litestar import Response
from markupsafe import Markup
from msgspec import Struct

from mudra.console.framework.static_assets import ASSETS
from mudra.localization.display_zone import display_zone
from mudra.localization.duration import span_text
from mudra.localization.language import current, gettext
from mudra.localization.templates import add_translation

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FEW_A_MINUTE: Final = 10
_WINDOW: Final = timedelta(minutes=10)
_SO_FAR: Final = Markup("<!-- so far -->")
"""Marks the end of what is sent before its figures are there."""
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    # A form's Origin would be "null" under no-referrer, and csrf.py reads it.
    "Referrer-Policy": "same-origin",
}


def instant(at: datetime | None) -> Markup:
    """Write an instant in the zone of the page, with UTC on hover.

    In the zone of a browser that the service does not know, console.js writes it.
    """
    if at is None:
        return Markup('<span class="nothing">{}</span>').format(gettext("never"))
    utc, zone = at.astimezone(UTC), display_zone()
    return Markup('<time datetime="{}" title="{} UTC">{} {}</time>').format(
        utc.isoformat(timespec="seconds").replace("+00:00", "Z"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        current().minute(utc, zone.info),
        zone.abbreviation(utc),
    )


def hour(at: datetime) -> Markup:
    """Write an instant by the clock alone, in the zone of the page: its day is plain."""
    utc = at.astimezone(UTC)
    return Markup(
        '<span data-clock><time datetime="{}" title="{} UTC">{:%H:%M}</time></span>'
    ).format(
        utc.isoformat(timespec="seconds").replace("+00:00", "Z"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        utc.astimezone(display_zone().info),
    )


def until(at: datetime, since: datetime) -> Markup:
    """Write the end of a time: by the clock alone where it is on the day of its beginning."""
    zone = display_zone().info
    same = at.astimezone(zone).date() == since.astimezone(zone).date()
    return hour(at) if same else instant(at)


def moment(at: datetime) -> Markup:
    """Write an instant with its seconds, which console.js keeps."""
    utc, zone = at.astimezone(UTC), display_zone()
    return _to_the_second(
        utc, f"{current().minute(utc, zone.info)}:{utc:%S} {zone.abbreviation(utc)}"
    )


def clock(at: datetime) -> Markup:
    """Write an instant by the clock with its seconds: its day is in a heading above it."""
    shown = _to_the_second(at.astimezone(UTC), f"{at.astimezone(display_zone().info):%H:%M:%S}")
    return Markup("<span data-clock>{}</span>").format(shown)


def _to_the_second(utc: datetime, shown: str) -> Markup:
    return Markup('<time datetime="{}" title="{} UTC" data-seconds>{}</time>').format(
        utc.isoformat(timespec="seconds").replace("+00:00", "Z"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        shown,
    )


def local_day(at: datetime) -> str:
    """Write the day of an instant in the zone of the page."""
    return day_text(at.astimezone(display_zone().info).date())


def day_text(day: date) -> str:
    """Write a day as pages write instants: without a leading zero."""
    return current().day(day).removeprefix("0")


def local_time(at: datetime | None) -> str:
    """Write an instant as a field for date and time has it, in the zone of the page."""
    return display_zone().local(at) if at is not None else ""


def sentence(text: str) -> str:
    """Makes a sentence of an error's text: a capital first, a full stop last."""
    end = "" if text.endswith((".", "?", "!")) else gettext(".")
    return f"{text[:1].upper()}{text[1:]}{end}"


def _english_sentence(text: str) -> str:
    """Makes a sentence of a text that is English on every page."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _rate(value: float) -> str:
    """Write calls a minute: a decimal where it says something, below ten."""
    return f"{value:,.1f}" if value < _FEW_A_MINUTE else f"{value:,.0f}"


def _windows(count: int) -> str:
    """Write how long so many windows of ten minutes are, such as "4 h 30 min"."""
    return span_text(count * _WINDOW)


def _window_end(start: datetime) -> datetime:
    """Return when a window is over that began then."""
    return start + _WINDOW


class Colors(Struct, frozen=True):
    """The color schemes that a page has, and where its dark colors apply (a media query)."""

    scheme: str
    dark: str


def _colors_of(theme: str) -> Colors:
    """Returns the colors that the reader chose: light, dark, or as the device has it."""
    chosen = {"light": Colors("light", "not all"), "dark": Colors("dark", "all")}
    return chosen.get(theme, Colors("light dark", "(prefers-color-scheme: dark)"))


def _bold(text: str) -> Markup:
    """Return a value of a message in bold: messages themselves have no markup."""
    return Markup("<strong>{}</strong>").format(text)


def _key(text: str) -> Markup:
    """Marks a key that is pressed, such as in the sentence of the search."""
    return Markup("<kbd>{}</kbd>").format(text)


def _code(text: str) -> Markup:
    """Return a value of a message as code."""
    return Markup("<code>{}</code>").format(text)


@cache
def environment() -> jinja2.Environment:
    """The one of all pages."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("mudra.console", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "asset": ASSETS.address,
        "so_far": _SO_FAR,
        "bold": _bold,
        "as_code": _code,
        "as_key": _key,
    }
    made.globals |= {"display_zone": display_zone, "colors_of": _colors_of}
    add_translation(made)
    made.filters |= {
        "instant": instant,
        "hour": hour,
        "clock": clock,
        "local_day": local_day,
        "moment": moment,
        "local_time": local_time,
        "sentence": sentence,
        "english_sentence": _english_sentence,
        "rate": _rate,
        "windows": _windows,
        "window_end": _window_end,
        "until": until,
    }
    return made


def page(
    template: str,
    facts: Mapping[str, object],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    """Render a page with a strict content security policy; never cached."""
    return Response(
        environment().get_template(template).render(facts),
        status_code=status,
        media_type="text/html",
        headers={**HEADERS, **(headers or {})},
    )


def part(template: str, facts: Mapping[str, object]) -> Markup:
    """Render a part for a page to show as it is."""
    return Markup(environment().get_template(template).render(facts))  # noqa: S704  # escaped there


def opening(template: str, facts: Mapping[str, object]) -> str:
    """Render a page as far as it needs no figures; nothing behind that is asked of `facts`."""
    parts = environment().get_template(template).generate(facts)
    return "".join(takewhile(lambda part: part != _SO_FAR, parts))


def remainder(template: str, facts: Mapping[str, object]) -> str:
    """Render what comes behind the opening."""
    return environment().get_template(template).render(facts).partition(_SO_FAR)[2]
