"""Serious acts in the console ask again who sits there."""

import pytest
from litestar.handlers import HTTPRouteHandler
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.people.second_factor import csrf, enroll, recovery_codes
from tests.support.service import PASSWORD, Service

from mudra.bootstrap.config import load_settings
from mudra.console.routes import console_pages
from mudra.http.server.given import Given

_NONE = "00000000-0000-4000-8000-000000000000"
_OWN, _STAFF = "/console/entity/{entity}", "/console/operator"
SERIOUS: dict[str, dict[str, str]] = {
    f"{_OWN}/registration/submit": {"payload": "{}"},
    f"{_OWN}/addresses": {"binding": "network"},
    f"{_OWN}/people/add": {"email": "asked@member.example", "name": "Ravi"},
    f"{_OWN}/people/remove": {"email": "asked@member.example"},
    f"{_OWN}/people/hand-over": {"email": "no address"},
    f"{_OWN}/people/invite-again": {"email": "asked@member.example"},
    f"{_OWN}/people/contact": {"email": "asked@member.example"},
    f"{_STAFF}/approvals/{{entity}}": {"act": "approve", "version": "1"},
    f"{_STAFF}/members/{{entity}}/admins": {"email": "asked@member.example"},
    f"{_STAFF}/onboard": {"entityId": "ASKED-FIP", "adminEmail": "asked@member.example"},
    f"{_STAFF}/import": {"csv": "entityId,type,name,adminEmail\n"},
    f"{_STAFF}/bulk": {"act": "suspend", "members": "NO-SUCH", "reason": "asked"},
    f"{_STAFF}/people": {"email": "asked@network.example", "health": "on"},
    f"{_STAFF}/people/second-factor": {"email": "asked@network.example"},
    f"{_STAFF}/keys/rotate": {"kind": "user"},
    f"{_STAFF}/webhooks": {"url": "no address"},
    f"{_OWN}/webhooks": {"url": "no address"},
    "/console/account/webhooks": {"url": "no address"},
    f"{_STAFF}/webhooks/{{webhook_id:uuid}}/rotate": {},
    f"{_OWN}/webhooks/{{webhook_id:uuid}}/rotate": {},
    "/console/account/webhooks/{webhook_id:uuid}/rotate": {},
}
"""Keys, decisions on registrations, people, and addresses to which alarms go."""
ASK_THEMSELVES = {"secret/show", "secret/reset", "account/password"} | {
    f"account/second-factor/{act}"
    for act in ("begin", "remove", "recovery-codes", "passkey/begin", "passkey/remove")
}
"""Have a field for the proof on their page, or ask each time: tests of their own."""
NOT_SERIOUS = {
    *("sign-in", "sign-in/code", "sign-out", "account/second-factor/confirm"),
    *("sign-in/passkey", "sign-in/passkey/challenge", "passkey/challenge"),
    "account/second-factor/passkey/add",  # signs a challenge that only a proof gives
    *(
        "account/session",
        "account/token",
        "account/alarms",
        "account/language",
        "account/zone",
        "health/follow",
        "secret/retire",
        "registration/check",
        "registration/key",  # reads a public key
        "import/check",
        "bulk/check",
        "bulk/export",
    ),
    *(
        "approvals/{entity_id:str}/probe",
        "mails/retry",
        "audit/verify",
        "acts",
        "announcements",
        "announcements/{announcement_id:uuid}",
        "announcements/{announcement_id:uuid}/updates",
        *("incidents/assign", "announce", "update"),
        "silence",
        "silences",
        "maintenance",
        "maintenance/{silence_id:uuid}",
        "end",
    ),
    "webhooks/{webhook_id:uuid}/{act:str}",  # a test, or an end
    "webhooks/{webhook_id:uuid}/events/{message_id:uuid}",
    "held-reports/{receipt_id:uuid}/{decision:str}",
    "disputes",
    "disputes/{dispute_id:uuid}/steps",  # a decision is audited, emailed, and can be reopened
    "disputes/{dispute_id:uuid}/evidence",
    "levels",
    "levels/rule",  # audited with its reason, and replaced by another one
    "levels/targets",
}


@pytest.fixture(scope="module")
def chief(service: Service) -> Operator:
    return new_operator(service)


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    return new_member(service)


@pytest.fixture(scope="module")
def sessions(service: Service, chief: Operator, resident: Member) -> dict[str, Reader]:
    """A session for each form, of who may send it and proved more than five minutes ago."""
    made = {form: reader(service) for form in SERIOUS}
    for form, browser in made.items():
        who = chief.email if form.startswith(_STAFF) else resident.email
        assert browser.sign_in(who).status_code == 303
    service.advance("PT6M")
    return made


def test_every_form_of_the_console_is_serious_or_not() -> None:
    router = console_pages(Given())
    posts = {
        route.path
        for route in router.routes
        for handler in getattr(route, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler) and "POST" in handler.http_methods
    }
    serious = {path.replace("{entity}", "{entity_id:str}") for path in SERIOUS}
    serious |= {f"{_STAFF}/members/{{entity_id:str}}/{{action:str}}"}
    known = tuple(f"/{end}" for end in ASK_THEMSELVES | NOT_SERIOUS)

    unknown = {path for path in posts - serious if not path.endswith(known)}

    assert unknown == set()


@pytest.mark.parametrize("form", SERIOUS)
def test_an_open_session_alone_does_no_serious_act(
    sessions: dict[str, Reader], resident: Member, form: str
) -> None:
    path = form.replace("{entity}", resident.entity_id).replace("{webhook_id:uuid}", _NONE)
    browser = sessions[form]
    sent = {"csrf_token": browser.word("/console/account"), **SERIOUS[form]}

    asked = browser.post(path, sent)
    wrong = browser.post(path, {**sent, "password": "not-the-password-at-all"})

    for refused in (asked, wrong):
        assert refused.status_code == 403
        assert "Confirm that it is you" in refused.text
        for name, value in SERIOUS[form].items():
            assert f'name="{name}" value="{value}"' in refused.text
    assert "That is not your password" in wrong.text
    assert "not-the-password" not in wrong.text
    answered = browser.post(path, {**sent, "password": PASSWORD})
    assert "Confirm that it is you" not in answered.text
    again = browser.post(path, sent)
    assert "Confirm that it is you" not in again.text, "lately enough"


def test_who_has_a_second_factor_is_asked_for_a_code(service: Service) -> None:
    member = new_member(service)
    browser, page = reader(service), f"/console/entity/{member.entity_id}"
    browser.sign_in(member.email)
    app, codes = enroll(browser, service)
    service.advance("PT6M")
    sent = {"csrf_token": browser.word("/console/account"), "email": "it@member.example"}

    by_password = browser.post(f"{page}/people/contact", {**sent, "password": PASSWORD})
    wrong = browser.post(f"{page}/people/contact", {**sent, "code": "000000"})
    shown = browser.post(f"{page}/secret/show", {**sent, "password": PASSWORD})

    assert by_password.status_code == wrong.status_code == shown.status_code == 403
    assert "authenticator app" in by_password.text
    assert "The code is wrong" in wrong.text
    assert "secret-text" not in shown.text
    done = browser.post(f"{page}/people/contact", {**sent, "code": app.fresh_code()})
    assert done.headers["location"].endswith("told=contact")
    service.advance("PT6M")
    shown = browser.post(f"{page}/secret/show", {**sent, "code": codes[0]})
    assert "secret-text" in shown.text
    assert csrf(shown)
    assert recovery_codes(shown) == []


def test_the_minutes_are_a_setting() -> None:
    assert load_settings({}).step_up.total_seconds() == 300
    assert load_settings({"MUDRA_STEP_UP_MINUTES": "15"}).step_up.total_seconds() == 900
