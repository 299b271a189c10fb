"""Requests about a person's own alarms, which the API and the console read alike."""

from collections.abc import Callable, Mapping
from datetime import time
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from mudra.http.request.fields import named
from mudra.metrics.notifications.preferences import ALARM_APIS, AlarmPreferences, Channel
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
    """Changes of the caller's preferences; what is left out stays.

    `ofMembers` and `ofNetwork` are the least severity of alarms about one's own entities and, for
    operators, about the network; none means no alarms. Quiet hours are in `timeZone`. `channel` is
    how alarms come; webhook and both need a webhook of one's own. `apis` are the codes of the
    APIs that alarms are wanted about; none are all. With `levelReports`, monthly reports of
    service levels come by email.
    """

    time_zone: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=64,
                description="a name of the time zone database",
                examples=["Asia/Kolkata"],
            ),
        ]
        | UnsetType
    ) = UNSET
    quiet_from: _Clock | UnsetType = UNSET
    quiet_until: Annotated[_Clock, Meta(examples=["07:00"])] | UnsetType = UNSET
    breaks_quiet: _Severity | UnsetType = UNSET
    of_members: _Severity | UnsetType = UNSET
    of_network: _Severity | UnsetType = UNSET
    channel: _Channel | UnsetType = UNSET
    apis: (
        Annotated[
            list[_Api],
            Meta(
                max_length=len(ALARM_APIS), description="codes of APIs", examples=[["fireq", "fif"]]
            ),
        ]
        | UnsetType
    ) = UNSET
    level_reports: (
        Annotated[
            bool,
            Meta(
                description="whether monthly reports of service levels come by email",
                examples=[True],
            ),
        ]
        | UnsetType
    ) = UNSET

    def preferences(self, known: AlarmPreferences) -> AlarmPreferences:
        """Returns the preferences that are known, with what is named."""
        changes = named(self)
        return replace(
            known, **{name: _READ.get(name, _same)(one) for name, one in changes.items()}
        )


def _time(text: str) -> time | None:
    return time.fromisoformat(text) if text else None


def _severity(word: str) -> Severity | None:
    return None if word == _NONE else Severity(word)


def _same(value: object) -> object:
    return value


_READ: Final[Mapping[str, Callable[[Any], object]]] = {
    "quiet_from": _time,
    "quiet_until": _time,
    "breaks_quiet": _severity,
    "of_members": _severity,
    "of_network": _severity,
    "channel": Channel,
    "apis": frozenset,
}
"""How a value of a request is read; the others are as they are."""


def clock_text(at: time | None) -> str:
    """Returns a time of day as requests have it; empty for none."""
    return at.strftime("%H:%M") if at else ""


def severity_word(severity: Severity | None) -> str:
    """Returns a least severity as requests have it."""
    return severity.value if severity else _NONE
