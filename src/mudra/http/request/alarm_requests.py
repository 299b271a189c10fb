"""Requests about a person's own alarms, which the API and the console read alike."""

from datetime import time
from typing import Annotated

from msgspec import Meta, Struct

from mudra.metrics.notifications.preferences import ALARM_APIS, USUAL, AlarmPreferences, Channel
from mudra.metrics.notifications.severity import Severity

_NONE = "none"
_Clock = Annotated[
    str,
    Meta(
        pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9])?\Z",
        description="a time of day such as 22:00, or empty",
        examples=["22:00"],
    ),
]
_Severity = Annotated[
    str,
    Meta(
        pattern=r"^(minor|major|critical|none)\Z",
        description="minor, major, critical or none",
        examples=["major"],
    ),
]

_Channel = Annotated[
    str,
    Meta(
        pattern=r"^(email|webhook|both|none)\Z",
        description="email, webhook, both or none",
        examples=["email"],
    ),
]


_Api = Annotated[str, Meta(extra_json_schema={"enum": sorted(ALARM_APIS)})]


class AlarmPreferencesRequest(Struct, frozen=True, rename="camel"):
    """All preferences of the caller; what is left out becomes as usual.

    `ofMembers` and `ofNetwork` are the least severity of alarms about one's own entities and, for
    operators, about the network; none means no alarms. Quiet hours are in `timeZone`. `channel` is
    how alarms come; webhook and both need a webhook of one's own. `apis` are the codes of the
    APIs that alarms are wanted about; none are all. With `levelReports`, monthly reports of
    service levels come by email.
    """

    time_zone: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=64,
            description="a name of the time zone database",
            examples=["Asia/Kolkata"],
        ),
    ] = USUAL.time_zone
    quiet_from: _Clock = ""
    quiet_until: Annotated[_Clock, Meta(examples=["07:00"])] = ""
    breaks_quiet: _Severity = Severity.CRITICAL.value
    of_members: _Severity = Severity.MINOR.value
    of_network: _Severity = Severity.MAJOR.value
    channel: _Channel = Channel.EMAIL.value
    apis: Annotated[
        list[_Api],
        Meta(max_length=len(ALARM_APIS), description="codes of APIs", examples=[["fireq", "fif"]]),
    ] = []
    level_reports: Annotated[
        bool,
        Meta(
            description="whether monthly reports of service levels come by email", examples=[True]
        ),
    ] = False

    def preferences(self) -> AlarmPreferences:
        """Returns the preferences that are asked for."""
        return AlarmPreferences(
            self.time_zone,
            _time(self.quiet_from),
            _time(self.quiet_until),
            _severity(self.breaks_quiet),
            _severity(self.of_members),
            _severity(self.of_network),
            Channel(self.channel),
            frozenset(self.apis),
            self.level_reports,
        )


def _time(text: str) -> time | None:
    return time.fromisoformat(text) if text else None


def _severity(word: str) -> Severity | None:
    return None if word == _NONE else Severity(word)


def clock_text(at: time | None) -> str:
    """Returns a time of day as requests have it; empty for none."""
    return at.strftime("%H:%M") if at else ""


def severity_word(severity: Severity | None) -> str:
    """Returns a least severity as requests have it."""
    return severity.value if severity else _NONE
