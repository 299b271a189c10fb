"""The time zone of a page: chosen by its reader, or the browser's as its script reported it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from mudra.console.framework.page_context import PageContext
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.sessions.session import Stage
from mudra.localization.display_zone import (
    DisplayZone,
    ZoneChoice,
    display_zone,
    use_zone,
    zone_named,
    zone_of,
)
from mudra.localization.language import current, translatable
from mudra.localization.languages import Choice

ZONES: Final = {
    ZoneChoice.IST: "IST",
    ZoneChoice.UTC: "UTC",
    ZoneChoice.BROWSER: translatable("Browser"),
}
"""The choices of the switch."""
BROWSER_ZONE: Final = "mudra-zone"
"""The cookie by which console.js reports the zone of the browser."""
_THEME: Final = "mudra-theme"
"""The cookie in which console.js stores the colors that the reader chose."""
_THEMES: Final = frozenset({"light", "dark"})


def write_in_own_zone(page_context: PageContext) -> None:
    """Write times in the zone that the person chose."""
    reported = page_context.context.request.cookies.get(BROWSER_ZONE, "")
    network = page_context.dependencies.settings.time_zone
    use_zone(zone_of(page_context.user.display_zone, network, reported))


def write_in_asked_zone(request: AnyRequest, network: str) -> str:
    """Write times in the zone that the address asks for (`zone`); returns that, empty for none.

    Without one they are in that of the network.

    For pages that caches keep: no cookie says it.
    """
    asked = request.query_params.get("zone", "")
    fixed = {ZoneChoice.IST.value, ZoneChoice.UTC.value}
    use_zone(zone_of(asked if asked in fixed else "", network))
    return asked if asked in fixed else ""


def zone_of_form(fields: Mapping[str, str]) -> DisplayZone | InvalidField:
    """Returns the zone in which the times of a form were typed: its field `zone` names it."""
    named = fields.get("zone", "")
    if not named:
        return display_zone()
    return zone_named(named) or InvalidField("zone must be a time zone such as Asia/Kolkata or UTC")


def _other_languages(page_context: PageContext) -> list[Choice]:
    """Returns the languages that the reader may change to."""
    choices = page_context.dependencies.languages.choices
    return [one for one in choices if not current().tag.startswith(one.tag)]


def zone_switch(page_context: PageContext) -> dict[str, object]:
    """Returns what the switches of the layout show; no zone where a form is answered."""
    asks = page_context.context.request.method in {"GET", "HEAD"}
    query = {name: text for name, text in page_context.query.items() if name != "told"}
    here = page_context.context.request.url.path + (f"?{urlencode(query)}" if query else "")
    shown = asks and page_context.session.stage is Stage.FULL
    theme = page_context.context.request.cookies.get(_THEME, "")
    return {
        "zone_choices": ZONES if shown else {},
        "zone_back": here,
        "theme": theme if theme in _THEMES else "",
        "other_languages": _other_languages(page_context),
    }
