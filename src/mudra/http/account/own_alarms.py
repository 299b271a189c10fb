"""/user/alarm: which alarms about incidents the caller gets, and when."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.auth.gates import SIGNED_IN, UserCall
from mudra.http.request.alarm_requests import AlarmPreferencesRequest, clock_text, severity_word
from mudra.http.request.fields import NoParameters
from mudra.http.response import conflicts
from mudra.http.response.response_body import ResponseBody
from mudra.http.route import get, post
from mudra.metrics.notifications.preference_service import AlarmPreferenceService
from mudra.metrics.notifications.preferences import AlarmPreferences
from mudra.shared.refusal import Refusal


class AlarmPreferencesResponse(ResponseBody, kw_only=True, rename="camel"):
    """The caller's alarm preferences, as a request has them."""

    time_zone: str
    quiet_from: str
    quiet_until: str
    breaks_quiet: str
    of_members: str
    of_network: str
    channel: str
    apis: list[str]
    level_reports: bool


@get("/user/alarm/preferences", "Read your own alarm preferences", gate=SIGNED_IN)
async def read(call: UserCall[NoParameters]) -> AlarmPreferencesResponse:
    """Return which alarms about incidents the caller gets, how, and the quiet hours."""
    return _response(await call.tx.service(AlarmPreferenceService).of(call.user.user_id))


@post(
    "/user/alarm/preferences",
    "Change your own alarm preferences",
    conflicts=conflicts.PREFERENCES,
    gate=SIGNED_IN,
)
async def change(call: UserCall[AlarmPreferencesRequest]) -> AlarmPreferencesResponse | Refusal:
    """Change what is named; the rest stays.

    What quiet hours hold back comes in one email at their end.
    The channels `webhook` and `both` need a webhook of your own: add it first.
    """
    service, user_id = call.tx.service(AlarmPreferenceService), call.user.user_id
    wanted = call.body.preferences(await service.of(user_id))
    outcome = await service.set(user_id, wanted, call.caller)
    return outcome if isinstance(outcome, Refusal) else _response(outcome)


def _response(preferences: AlarmPreferences) -> AlarmPreferencesResponse:
    return AlarmPreferencesResponse(
        time_zone=preferences.time_zone,
        quiet_from=clock_text(preferences.quiet_from),
        quiet_until=clock_text(preferences.quiet_until),
        breaks_quiet=severity_word(preferences.breaks_quiet),
        of_members=severity_word(preferences.of_members),
        of_network=severity_word(preferences.of_network),
        channel=preferences.channel.value,
        apis=sorted(preferences.apis),
        level_reports=preferences.level_reports,
    )


handlers: Final[list[ControllerRouterHandler]] = [read, change]
