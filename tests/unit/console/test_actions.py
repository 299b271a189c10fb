"""Every action of the console is had over the API and by command too.

The forms are read from the templates: a new one without a row here is red.
"""

import re

import pytest
import typer
from litestar.routes import HTTPRoute

from mudra.bootstrap.command_line import app
from mudra.console.framework.render import environment
from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings

_OPEN = re.compile(r'<[^>]*(?:method="post"|data-post="|hx-post=")[^>]*>')
_TARGET = re.compile(r'\b(?:action|data-post|hx-post)="([^"]+)"')
_ACT = re.compile(r'name="act" value="([^"]+)"')
MEMBERS, ENTRIES = "/operator/v1/members", "/operator/v1/registry/entries/{entity_id:str}/decide"
OWN = "/console/entity/{{ entity.entity_id }}"

ROWS: dict[tuple[str, str], tuple[str, ...]] = {
    # The template and what its form is sent to; the address of the API, and the commands.
    ("sign_in", "/console/sign-in"): ("/iam/v1/user/token/generate", "login"),
    ("console", "/console/sign-out"): ("/iam/v1/user/session/end", "session end"),
    ("activation", "{{ base }}/v1/user/password/set"): (
        "/iam/v1/user/password/set",
        "password set",
    ),
    ("confirm_address", "{{ base }}/v1/user/link/confirm"): (
        "/iam/v1/user/link/confirm",
        "password confirm",
    ),
    ("accept_invitation", "{{ base }}/v1/user/link/confirm"): (
        "/iam/v1/user/link/confirm",
        "password confirm",
    ),
    ("decline_invitation", "{{ base }}/v1/user/link/decline"): (
        "/iam/v1/user/link/decline",
        "password decline",
    ),
    ("ask_for_link", "{{ base }}/v1/user/password/forgot"): (
        "/iam/v1/user/password/forgot",
        "password forgot",
    ),
    ("account", "/console/account/password"): ("/iam/v1/user/password/set", "password set"),
    ("account", "/console/account/session"): ("/iam/v1/user/session/end", "session end"),
    ("account_alarms", "/console/account/alarms"): (
        "/iam/v1/user/alarm/preferences",
        "alarms set",
    ),
    ("account", "/console/account/token"): ("/iam/v1/user/token/revoke", "token revoke"),
    ("webhooks", "{{ path }}"): (
        "/operator/v1/health/webhooks",
        "health webhook",
        "alarms add-webhook",
    ),
    ("webhooks", "{{ path }}/{{ id }}/test"): (
        "/operator/v1/health/webhooks/{webhook_id:uuid}/test",
        "health test-webhook",
        "alarms test-webhook",
    ),
    ("webhooks", "{{ path }}/{{ id }}/rotate"): (
        "/operator/v1/health/webhooks/{webhook_id:uuid}/rotate",
        "health rotate-webhook",
        "alarms rotate-webhook",
    ),
    ("webhooks", "{{ path }}/{{ id }}/remove"): (
        "/operator/v1/health/webhooks/{webhook_id:uuid}/remove",
        "health unwebhook",
        "alarms remove-webhook",
    ),
    ("operator_announcements", "/console/operator/announcements"): (
        "/operator/v1/announcements",
        "announcement publish",
    ),
    ("operator_announcements", "/console/operator/announcements/{{ one.announcement_id }}/end"): (
        "/operator/v1/announcements/{announcement_id:uuid}/end",
        "announcement end",
    ),
    ("operator_announcement", "/console/operator/announcements/{{ one.announcement_id }}"): (
        "/operator/v1/announcements/{announcement_id:uuid}",
        "announcement change",
    ),
    (
        "operator_announcement",
        "/console/operator/announcements/{{ one.announcement_id }}/updates",
    ): (
        "/operator/v1/announcements/{announcement_id:uuid}/updates",
        "announcement update",
    ),
    ("incident", "{{ path }}/announce"): ("/operator/v1/announcements", "announcement publish"),
    ("incident", "{{ path }}/update"): (
        "/operator/v1/announcements/{announcement_id:uuid}/updates",
        "announcement update",
    ),
    ("incidents", "/console/operator/incidents/assign"): (
        "/operator/v1/incidents/{incident_id:uuid}/acts",
        "health act",
    ),
    ("operator_dashboard", "/console/operator/incidents/assign"): (
        "/operator/v1/incidents/{incident_id:uuid}/acts",
        "health act",
    ),
    ("webhooks", "{{ path }}/{{ id }}/events/{{ event.message_id }}"): (
        "/operator/v1/health/webhooks/{webhook_id:uuid}/events/{message_id:uuid}/resend",
        "webhook resend",
    ),
    ("operator_levels", "{{ path }}/targets"): ("/operator/v1/levels/targets", "report set-target"),
    ("operator_levels", "{{ path }}/targets/{{ one.target_id }}/end"): (
        "/operator/v1/levels/targets/{target_id:uuid}/end",
        "report end-target",
    ),
    ("operator_levels", "{{ path }}/rule"): ("/operator/v1/levels/rule", "report set-rule"),
    ("operator_levels", "{{ path }}"): ("/operator/v1/levels/reports", "report make"),
    ("levels", "{{ path }}"): ("/metrics/perf/v1/levels/reports", "report make-own"),
    ("disputes", "{{ path }}"): ("/iam/v1/entity/disputes", "dispute raise"),
    ("dispute", "{{ path }}/steps inform"): (
        "/iam/v1/entity/disputes/{dispute_id:uuid}/steps",
        "dispute inform",
    ),
    ("dispute", "{{ path }}/steps withdraw"): (
        "/iam/v1/entity/disputes/{dispute_id:uuid}/steps",
        "dispute withdraw",
    ),
    ("dispute", "{{ path }}/evidence"): (
        "/iam/v1/entity/disputes/{dispute_id:uuid}/evidence",
        "dispute attach",
    ),
    ("operator_dispute", "{{ path }}/steps review"): (
        "/operator/v1/disputes/{dispute_id:uuid}/steps",
        "dispute act",
    ),
    ("operator_dispute", "{{ path }}/steps {{ which }}"): (
        "/operator/v1/disputes/{dispute_id:uuid}/steps",
        "dispute act",
    ),
    ("held_reports", "/console/operator/held-reports/{{ one.receipt_id }}/refuse"): (
        "/operator/v1/health/held-reports/{receipt_id:uuid}/refuse",
        "health refuse",
    ),
    ("secret", f"{OWN}/secret/show"): ("/iam/v1/entity/secret/read", "secret read"),
    ("secret", f"{OWN}/secret/reset"): ("/iam/v1/entity/secret/reset", "secret reset"),
    ("secret", f"{OWN}/secret/retire"): ("/iam/v1/entity/secret/retire", "secret retire"),
    ("addresses", f"{OWN}/addresses"): ("/iam/v1/entity/address/binding", "registry binding"),
    ("operator_member", "{{ path }}/binding"): (
        MEMBERS + "/{entity_id:str}/address-binding",
        "registry binding",
    ),
    ("people", f"{OWN}/people/add"): (
        "/iam/v1/entity/admin/add",
        "entity add-admin",
        "entity add-reader",
    ),
    ("people", f"{OWN}/people/remove"): ("/iam/v1/entity/admin/remove", "entity remove-admin"),
    ("people", f"{OWN}/people/hand-over"): ("/iam/v1/entity/admin/handover", "entity hand-over"),
    ("people", f"{OWN}/people/invite-again"): (
        "/iam/v1/entity/admin/invite-again",
        "entity invite-again",
    ),
    ("people", f"{OWN}/people/contact"): ("/iam/v1/entity/contact/set", "entity contact"),
    ("registration", f"{OWN}/registration/submit"): (
        "/cr/v2/entityInfo/{entity_type:str}",
        "registry submit",
    ),
    ("registration", f"{OWN}/registration/check"): (
        "/cr/v2/lint/{entity_type:str}",
        "registry lint",
    ),
    ("operator_onboard", "/console/operator/onboard"): (MEMBERS, "member onboard"),
    ("operator_import", "/console/operator/import/check"): (f"{MEMBERS}/import", "member import"),
    ("operator_import", "/console/operator/import"): (f"{MEMBERS}/import", "member import"),
    ("operator_members", "/console/operator/bulk/check"): (f"{MEMBERS}/bulk", "member bulk"),
    ("operator_bulk", "/console/operator/bulk"): (f"{MEMBERS}/bulk", "member bulk"),
    ("operator_bulk", "/console/operator/bulk/export"): (f"{MEMBERS}/bulk", "member bulk"),
    ("operator_member", "{{ path }}/invitation"): (
        "/operator/v1/users/{user_id:uuid}/invite",
        "admin invite",
    ),
    ("operator_member", "{{ path }}/removal"): (f"{MEMBERS}/admins/remove", "admin remove"),
    ("operator_member", "{{ path }}/admins"): (f"{MEMBERS}/admins/add", "admin add"),
    ("operator_member", "{{ path }}/contact"): (f"{MEMBERS}/contact", "admin contact"),
    ("operator_member", "{{ path }}/status"): (
        MEMBERS + "/{entity_id:str}/status",
        "member suspend",
        "member restore",
    ),
    ("operator_approval", "{{ path }}/probe"): (
        "/operator/v1/registry/entries/{entity_id:str}/probe",
        "registry probe",
    ),
    ("operator_approval", "{{ path }} approve"): (ENTRIES, "registry approve"),
    ("operator_approval", "{{ path }} reject"): (ENTRIES, "registry reject"),
    ("operator_approval", "{{ path }} {{ word }}"): (
        ENTRIES,
        "registry suspend",
        "registry restore",
        "registry retire",
    ),
    ("operator_approval", "{{ path }} rollBack"): (ENTRIES, "registry rollback"),
    ("operator_people", "/console/operator/people"): (
        "/operator/v1/operators",
        "operator create",
        "operator end",
    ),
    ("operator_people", "/console/operator/people/second-factor"): (
        "/operator/v1/users/{user_id:uuid}/second-factor/reset",
        "admin reset-factor",
    ),
    ("operator_member", "{{ path }}/second-factor"): (
        "/operator/v1/users/{user_id:uuid}/second-factor/reset",
        "admin reset-factor",
    ),
    ("operator_keys", "/console/operator/keys/rotate"): ("/operator/v1/keys/rotate", "keys rotate"),
    ("operator_mails", "/console/operator/mails/retry"): (
        "/operator/v1/mails/{mail_id:uuid}/retry",
        "mail retry",
    ),
    ("operator_audit", "/console/operator/audit/verify"): (
        "/operator/v1/audit/verify",
        "audit verify",
    ),
    ("incident", "{{ path }}/acts"): (
        "/operator/v1/incidents/{incident_id:uuid}/acts",
        "health act",
    ),
    ("incident", "{{ path }}/silence"): ("/operator/v1/health/silences", "health silence"),
    ("incidents", "/console/operator/silences"): (
        "/operator/v1/health/silences",
        "health silence",
    ),
    ("incidents", "/console/operator/silences/{{ one.silence_id }}/end"): (
        "/operator/v1/health/silences/{silence_id:uuid}/end",
        "health unsilence",
    ),
    (
        "maintenance",
        "{{ path }}{% if changed %}/{{ changed.silence_id }}{% endif %}",
    ): ("/metrics/perf/v1/maintenance", "maintenance announce"),
    ("maintenance", "{{ path }}/{{ one.silence_id }}/end"): (
        "/metrics/perf/v1/maintenance/{silence_id:uuid}/end",
        "maintenance withdraw",
    ),
    ("sandbox_parts", "/sandbox/v1/clock"): ("/sandbox/v1/clock", "sandbox advance"),
    ("faults", "{{ here_base }}"): ("/sandbox/v1/faults", "sandbox fault on"),
    ("faults", "{{ here_base }}/end"): ("/sandbox/v1/faults/end", "sandbox fault off"),
}


CONSOLE_ALONE = {
    # How people read the console and its emails: API and command line are in English.
    # What the page and people's alarms are about; programs name FIPs in their webhooks.
    ("health", "/console/entity/{{ entity.entity_id }}/health/follow"),
    ("console", "/console/account/zone"),
    ("console", "/console/account/language"),
    # Of the public: they have no account, and the link of an email is all their proof.
    ("status_subscribe", "/status/subscribe?lang={{ language().tag }}"),
    ("subscription", "/status/subscription/{{ subscription.token.reveal() }}/confirm"),
    ("subscription", "/status/subscription/{{ subscription.token.reveal() }}/challenge"),
    ("subscription", "/status/subscription/{{ subscription.token.reveal() }}/end"),
    ("subscription", "/status/channel/{{ channel }}/confirm"),
    ("subscription", "/status/channel/{{ channel }}/end"),
    # Of the console's own sign-in: a User Access Token must not bind a factor (decision 0075).
    ("second_step", "/console/sign-in/code"),
    ("second_factor", "/console/account/second-factor/begin"),
    ("second_factor", "/console/account/second-factor/remove"),
    ("second_factor", "/console/account/second-factor/recovery-codes"),
    ("second_factor_setup", "/console/account/second-factor/confirm"),
    ("second_factor", "/console/account/second-factor/passkey/begin"),
    ("second_factor", "/console/account/second-factor/passkey/remove"),
    ("passkey_setup", "/console/account/second-factor/passkey/add"),
    ("sign_in", "/console/sign-in/passkey"),
    # Sends any form again, with a password or code.
    ("confirm_identity", "{{ here }}"),
}


def forms() -> set[tuple[str, str]]:
    """Every form that does something, by its template and where it is sent."""
    found = set()
    loader = environment().loader
    assert loader is not None
    for name in environment().list_templates(extensions=["html"]):
        text = loader.get_source(environment(), name)[0]
        for start in _OPEN.finditer(text):
            act = _ACT.search(text[start.end() : text.find("</form>", start.end())])
            targets = _TARGET.findall(start[0])
            assert targets, start[0]
            found |= {
                (name.removesuffix(".html"), target + (f" {act[1]}" if act else ""))
                for target in targets
            }
    return found


def served() -> set[str]:
    """The addresses that are posted to."""
    litestar = build_routes(
        RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers
    ).litestar
    return {
        one.path for one in litestar.routes if isinstance(one, HTTPRoute) and "POST" in one.methods
    }


def test_every_form_of_the_console_has_its_row() -> None:
    assert forms() == set(ROWS) | CONSOLE_ALONE


def test_every_action_has_its_address_of_the_api() -> None:
    assert {address for address, *_ in ROWS.values()} - served() == set()


@pytest.mark.parametrize(
    "words", sorted({words for _, *commands in ROWS.values() for words in commands})
)
def test_every_action_has_its_command(words: str) -> None:
    command: object = typer.main.get_command(app)
    for word in words.split():
        command = getattr(command, "commands", {}).get(word)

    assert command is not None
