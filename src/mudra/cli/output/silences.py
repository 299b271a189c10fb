"""Silences and planned maintenances, as commands of operators and members name and show them."""

from datetime import datetime, timedelta

from mudra.cli.client.api import Answer
from mudra.cli.local.duration_option import read_duration
from mudra.cli.output.shown import Shown, facts
from mudra.shared.time_text import iso_ms


def times_after(now: datetime, in_: str, for_: str) -> dict[str, object]:
    """Return begin and end of a silence, from now or after a time.

    After a time it begins with the next full minute: a day ahead must be no millisecond less.
    """
    later, length = read_duration("--in", in_ or "PT0S"), read_duration("--for", for_)
    begins = now + later
    if in_ and begins != (minute := begins.replace(second=0, microsecond=0)):
        begins = minute + timedelta(minutes=1)
    return {"begins": iso_ms(begins), "ends": iso_ms(begins + length)}


def shown_silence(made: Answer) -> Shown:
    """Show a silence; of a planned maintenance what the network's rule makes of it, as well."""
    shown = {name: one for name, one in made.items() if name != "notice"}
    if (notice := made["notice"]) is not None:
        shown["in time"] = "yes" if notice["inTime"] else "no"
        shown["availability"] = notice["follows"]
    return facts(shown, made)


def in_time(one: Answer) -> str:
    """Return whether a planned maintenance was announced as early as the network's rule asks."""
    return "yes" if one["notice"]["inTime"] else "yes, announced too late"
