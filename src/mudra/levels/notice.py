"""Notices of planned maintenances: in time for the network's rule, or counted like an outage.

Never a decision of its own: reports are made by the same rule and the same test.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta, tzinfo

from msgspec import Struct

from mudra.levels.months import month_of
from mudra.levels.spans import MaintenanceRule, announced_in_time
from mudra.levels.target import NetworkRule, rule_on
from mudra.localization.language import gettext, ngettext
from mudra.metrics.incidents.silence import Silence

_HOUR = timedelta(hours=1)


class Notice(Struct, frozen=True, rename="camel"):
    """The time from an announcement to its maintenance, and what follows for the figures."""

    ahead_hours: int | None
    """Whole hours from the announcement until it begins; None where that is not known."""
    notice_hours: int
    """The network's rule."""
    hours_a_month: int
    in_time: bool
    follows: str
    """A sentence, in the current language."""


def notices_of(
    silences: Iterable[Silence], rules: Sequence[NetworkRule], zone: tzinfo
) -> Mapping[str, Notice]:
    """Returns the notice of each planned maintenance by its ID, by the rule of its month."""
    return {
        one.silence_id: _notice(
            one, rule_on(rules, month_of(one.begins, zone).start.date()).maintenance
        )
        for one in silences
        if one.maintenance
    }


def _notice(one: Silence, rule: MaintenanceRule) -> Notice:
    ahead = None if one.announced_at is None else (one.begins - one.announced_at) // _HOUR
    in_time = announced_in_time(one, rule)
    said = (
        gettext("When it was announced is not known.")
        if ahead is None
        else gettext(
            "It was announced %(ahead)s ahead. The network's rule asks for %(asked)s.",
            ahead=_hours(ahead),
            asked=_hours(rule.notice_hours),
        )
    )
    follows = (
        gettext(
            "It is left out of availability, as far as it is within the first %(month)s of "
            "maintenance in 30 days.",
            month=_hours(rule.hours_a_month),
        )
        if in_time
        else gettext(
            "It is not left out of availability: calls that fail in it count as an outage."
        )
    )
    return Notice(ahead, rule.notice_hours, rule.hours_a_month, in_time, f"{said} {follows}")


def _hours(count: int) -> str:
    return ngettext("%(num)s hour", "%(num)s hours", count)
