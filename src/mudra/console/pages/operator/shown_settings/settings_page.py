"""The settings in force with their sources; of a secret one only whether it is set."""

from collections.abc import Sequence
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Outcome, RenderedPage
from mudra.console.framework.table import Column, Table
from mudra.console.pages.operator.shown_settings.areas import AREAS, area_of
from mudra.http.auth.gates import operator
from mudra.localization.language import translatable
from mudra.overview.administration import SettingDetails, Source

TAGS: Final = {
    Source.DEFAULT: (translatable("default"), "quiet"),
    Source.ENVIRONMENT: (translatable("environment"), "good"),
    Source.COMMAND_LINE: (translatable("command line"), "good"),
}
_FIRST: Final = (Source.COMMAND_LINE, Source.ENVIRONMENT, Source.DEFAULT)
"""What was chosen for this service is before what comes with it."""
_SET_HERE: Final = translatable("Set here")
TABLE: Final = Table[SettingDetails](
    "settings",
    translatable("Settings"),
    (
        Column("name", translatable("Setting"), lambda s: s.env, "code"),
        Column("value", translatable("Value"), lambda s: s.value or None, phone="figure"),
        Column(
            "meaning", translatable("What it is"), lambda s: s.meaning, "english", phone="figure"
        ),
        Column(
            "source",
            translatable("From"),
            lambda s: TAGS[s.source][0],
            "tag",
            tone=lambda s: TAGS[s.source][1],
            order=lambda s: f"{_FIRST.index(s.source)} {s.env}",
            phone="state",
        ),
        Column("allowed", translatable("Allowed"), lambda s: s.allowed, "english", folded=True),
    ),
    first_sort="source",
)


@page.get("/operator/settings", gate=operator())
async def show_settings(page_context: PageContext) -> Outcome:
    """Show the settings of this service by area, or those that words find."""
    rows, query = page_context.dependencies.shown_settings, page_context.query
    view, shown = TABLE.view(rows, query), TABLE.chosen(rows, query)
    changed = [one for one in rows if one.source is not Source.DEFAULT]
    # What was chosen here is what one looks for: all others are one step further.
    only_changed = query.get("changed") == "yes" or not (
        query.get("all") or view.words or not changed
    )
    if only_changed:
        shown = [one for one in shown if one.source is not Source.DEFAULT]
    return TABLE.export(rows, query) or RenderedPage(
        "operator_settings.html",
        {
            "view": view,
            "areas": [(_SET_HERE, shown)] * bool(shown)
            if only_changed
            else [(area, of) for area in AREAS if (of := _of(area, shown))],
            "changed": len(changed),
            "only": only_changed,
            "total": len(rows),
            "tags": TAGS,
        },
    )


def _of(area: str, rows: Sequence[SettingDetails]) -> Sequence[SettingDetails]:
    return sorted((one for one in rows if area_of(one.env) == area), key=lambda one: one.env)


handlers: Final[list[ControllerRouterHandler]] = [show_settings]
