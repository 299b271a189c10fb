"""The part of the account page about the language, and alarms: severity, quiet hours, time zone."""

from collections.abc import Mapping
from typing import Final

from litestar.types import ControllerRouterHandler
from msgspec import structs

from mudra.console.framework import page
from mudra.console.framework.navigation import ACCOUNT
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import own_page_path
from mudra.console.framework.page_results import GoTo, Outcome
from mudra.http.auth.gates import SIGNED_IN
from mudra.http.request.alarm_requests import AlarmPreferencesRequest, clock_text, severity_word
from mudra.http.request.validation import decode_struct
from mudra.http.response.http_refusals import InvalidField
from mudra.identity.accounts.acts.language_and_zone import choose_language
from mudra.identity.operators.operator import Scope
from mudra.localization.language import translatable
from mudra.metrics.health.api_names import api_names
from mudra.metrics.notifications.preference_service import AlarmPreferenceService
from mudra.metrics.notifications.webhook import Owner
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.metrics.payload.catalogue import TYPE_OF_API
from mudra.shared.refusal import Refusal

ZONES: Final = (
    *("Asia/Kolkata", "UTC", "Asia/Colombo", "Asia/Dhaka", "Asia/Dubai", "Asia/Kathmandu"),
    *("Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Europe/Berlin", "Europe/London"),
    *("America/Los_Angeles", "America/New_York"),
)
"""Offered; any other name of the time zone database may be typed."""
_SAVED: Final = f"{ACCOUNT}?told=preferences#alarms"
_FROM: Final = {
    "minor": translatable("all, also slow calls"),
    "major": translatable("when calls fail (major)"),
    "critical": translatable("when half or more fail (critical)"),
    "none": translatable("none"),
}
_CHANNELS: Final = {
    "email": translatable("by email"),
    "webhook": translatable("to your webhook"),
    "both": translatable("by email and to your webhook"),
    "none": translatable("not at all"),
}
_BREAKS: Final = {
    "none": translatable("nothing"),
    "critical": translatable("critical ones"),
    "major": translatable("major and critical ones"),
    "minor": translatable("all"),
}
_REFUSALS: Final = (
    translatable("timeZone must be a time zone such as Asia/Kolkata or UTC"),
    translatable("quietFrom must be given with the other end of the quiet hours"),
    translatable("quietUntil must be given with the other end of the quiet hours"),
    translatable("quietUntil must differ from quietFrom"),
)
"""Texts of the API that what a person types can lead to: `page_problem` translates them."""


async def alarm_facts(page_context: PageContext) -> dict[str, object]:
    """Returns the values about alarms for the account page."""
    found = await page_context.tx.service(AlarmPreferenceService).of(page_context.user.user_id)
    owner = Owner(user_id=page_context.user.user_id)
    hooks = await page_context.tx.service(WebhookService).list(owner)
    return {
        "alarms": {
            "time_zone": found.time_zone,
            "quiet_from": clock_text(found.quiet_from),
            "quiet_until": clock_text(found.quiet_until),
            "breaks_quiet": severity_word(found.breaks_quiet),
            "of_members": severity_word(found.of_members),
            "of_network": severity_word(found.of_network),
            "channel": found.channel.value,
            "apis": found.apis,
            "level_reports": found.level_reports,
        },
        "alarm_apis": {code: api_names(code) for code in TYPE_OF_API},
        "own_webhook": hooks[0] if hooks else None,
        "channels": _CHANNELS
        if hooks
        else {word: _CHANNELS[word] for word in ("email", "none", found.channel.value)},
        "zones": ZONES,
        "alarm_choices": _FROM,
        "break_choices": _BREAKS,
        "may_watch": Scope.HEALTH in page_context.scopes,
    }


@page.post("/account/alarms", gate=SIGNED_IN)
async def change_alarms(page_context: PageContext, fields: Fields) -> Outcome:
    """Change the user's alarm preferences, and the language of emails and pages."""
    names = {one.encode_name: one.encode_name for one in structs.fields(AlarmPreferencesRequest)}
    sent = {name: fields[name].strip() for name in names if name in fields}
    apis = [code for code in TYPE_OF_API if f"api.{code}" in fields]
    reports = sent.pop("levelReports", "") == "yes"
    chosen = {**sent, "apis": apis, "levelReports": reports}
    wanted = decode_struct(chosen, AlarmPreferencesRequest)
    if isinstance(wanted, InvalidField):
        return wanted
    service, user_id = page_context.tx.service(AlarmPreferenceService), page_context.user.user_id
    preferences = wanted.preferences(await service.of(user_id))
    outcome = await service.set(user_id, preferences, page_context.caller)
    if isinstance(outcome, Refusal):
        return outcome
    chosen_language = page_context.user.language
    if fields.get("language", chosen_language) == chosen_language:
        return GoTo(_SAVED)
    language = await choose(page_context, fields)
    return language if isinstance(language, Refusal) else GoTo(_SAVED, language=language)


async def choose(page_context: PageContext, fields: Mapping[str, str]) -> str | Refusal:
    """Change the language to the field `language`; empty is the network's. Returns it."""
    known = {one.tag for one in page_context.dependencies.languages.choices}
    user, wanted = page_context.user, fields.get("language", "")
    return await choose_language(page_context.tx, user, page_context.caller, wanted, known)


@page.post("/account/language", gate=SIGNED_IN)
async def change_language(page_context: PageContext, fields: Fields) -> Outcome:
    """Change the language of the user's emails and pages, and return to the page of the switch."""
    outcome = await choose(page_context, fields)
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(own_page_path(fields.get("to", "")), language=outcome)


def language_facts(page_context: PageContext) -> dict[str, object]:
    """Returns what the account page shows of languages."""
    languages = page_context.dependencies.languages
    return {
        "languages": languages.choices,
        "chosen_language": page_context.user.language,
        "network_language": languages.name_of(languages.default.tag),
    }


handlers: Final[list[ControllerRouterHandler]] = [change_alarms, change_language]
