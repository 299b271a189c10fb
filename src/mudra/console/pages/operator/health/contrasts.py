"""The table of the calls that a cause hits, next to those that they are compared with."""

from collections.abc import Callable
from typing import Final

from mudra.console.framework.table import Column, Table
from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.incidents.contrast import Contrast
from mudra.metrics.incidents.incident import AaApi, AaCalls, Subject
from mudra.metrics.rollup.percentage import percentage

_SUCCESS: Final = translatable("Success %")


def contrasts_table(subject: Subject, link: Callable[[Contrast], str]) -> Table[Contrast]:
    """Returns the table of the calls that a cause hits, and of those to compare them with."""
    whose = (
        translatable("Calls to")
        if isinstance(subject, AaCalls | AaApi)
        else translatable("Calls of")
    )
    return Table(
        "contrasts",
        translatable("Calls in the time of the incident"),
        (
            Column("who", whose, _of_contrast, link=link),
            Column("affected", translatable("Affected"), _affected, "file"),
            Column("success", _SUCCESS, lambda row: percentage(row.share, 1), "number"),
            Column("calls", translatable("Calls"), lambda row: row.eligible, "number"),
        ),
        filters=False,
    )


def _of_contrast(row: Contrast) -> str:
    """Returns whose calls a row has; most are affected, so that only the others say it."""
    return row.text if row.affected else f"{row.text} ({gettext(_affected(row))})"


def _affected(row: Contrast) -> str:
    if row.affected is None:
        return translatable("to compare")
    if row.affected:
        return translatable("affected")
    fails = row.share is not None and row.share * 100 <= GOOD_ABOVE_PERCENT
    return translatable("not counted as affected") if fails else translatable("not affected")
