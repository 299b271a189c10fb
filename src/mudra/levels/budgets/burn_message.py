"""Messages about a budget: the webhook message of its member, and the alarm of its admins."""

from datetime import datetime, tzinfo
from functools import partial
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec import Struct

from mudra.levels.budgets.burn_rule import Burn, Outlook, shown_allowed
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.printing.labels import MEASURES
from mudra.levels.spans import Member
from mudra.localization.language import current, gettext
from mudra.metrics.notifications.alarm import time_text
from mudra.metrics.notifications.alarm_mail import MemberAlarm
from mudra.metrics.notifications.severity import Severity

EVENT: Final = "levels.budget"


class BudgetMessage(Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: StoredBurn


def body_of(stored: StoredBurn) -> bytes:
    """Returns the body of the message about a budget."""
    return msgspec.json.encode(BudgetMessage(EVENT, stored.at, stored))


def alarm_of(member: Member, stored: StoredBurn) -> MemberAlarm:
    """Returns the alarm about a budget; a later one of the same month and measure replaces it."""
    burn = stored.burn
    budget = f"{stored.entity_id}/{stored.month.isoformat()}/{burn.measure.value}"
    return MemberAlarm(
        str(uuid5(NAMESPACE_URL, budget)),
        stored.entity_id,
        Severity.MAJOR if burn.outlook is Outlook.GONE else Severity.MINOR,
        f"entity/{stored.entity_id}/levels",
        partial(_words, member.name or stored.entity_id, burn),
    )


def _words(name: str, burn: Burn, zone: tzinfo) -> tuple[str, str]:
    measure = gettext(MEASURES[burn.measure])
    if burn.outlook is Outlook.GONE or burn.gone_at is None:
        title = gettext(
            "%(entity_name)s: error budget of the month is used up (%(measure)s)",
            entity_name=name,
            measure=measure,
        )
        what = gettext("More calls failed this month than the target allows for the whole month.")
    else:
        title = gettext(
            "%(entity_name)s: error budget will not last the month (%(measure)s)",
            entity_name=name,
            measure=measure,
        )
        what = gettext(
            "At the rates of the last day and week, the failures that the target allows this month "
            "will be used up at %(at)s.",
            at=time_text(burn.gone_at, zone),
        )
    target = gettext(
        "%(measure)s, target %(target)s %%", measure=measure, target=f"{burn.target:g}"
    )
    number = current().number
    spent = gettext(
        "Failures so far: %(spent)s of %(allowed)s allowed in the month",
        spent=number(burn.spent),
        allowed=number(*shown_allowed(burn)),
    )
    rates = gettext(
        "Burn rate: %(day_rate)s in the last day, %(week_rate)s in the last week (at 1 the budget "
        "lasts exactly a month)",
        day_rate=f"{burn.day_rate:g}",
        week_rate=f"{burn.week_rate:g}",
    )
    return title, "\n".join((what, f"{target}. {spent}.", f"{rates}."))
