"""Passkeys in a real Chromium, whose virtual authenticator holds them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, CDPSession, expect
from tests.browser.conftest import LOOKS, Visit, in_thread, watched
from tests.support.members import new_member
from tests.support.passkeys import named_service
from tests.support.service import PASSWORD, Service


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with named_service(tmp_path_factory.mktemp("named") / "data") as running:
        yield running


@pytest.fixture
def visitor(browser: Browser, named: Service, axe: str) -> Iterator[Visit]:
    with watched(browser, named, axe, LOOKS[0]) as visit:
        yield visit


def authenticator(visit: Visit) -> tuple[CDPSession, str]:
    """Give the page a device that holds passkeys and recognizes its user."""
    session = visit.page.context.new_cdp_session(visit.page)
    session.send("WebAuthn.enable")
    made = session.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
            }
        },
    )
    return session, made["authenticatorId"]


def well(visit: Visit) -> None:
    """In each look nothing sticks out, and axe finds nothing."""
    for look in visit.looks():
        assert visit.violations() == [], look
        assert visit.fits(), look


def sign_in(visit: Visit, email: str) -> None:
    visit.page.goto(f"{visit.service.root}/console")
    visit.page.get_by_label("Email address").fill(email)
    visit.page.get_by_label("Password").fill(PASSWORD)
    visit.page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_is_added_signs_in_and_confirms(visitor: Visit) -> None:
    page, member = visitor.page, in_thread(new_member, visitor.service)
    root, entity = visitor.service.root, f"/console/entity/{member.entity_id}"
    device, device_id = authenticator(visitor)
    sign_in(visitor, member.email)
    page.goto(f"{root}/console/account/second-factor")
    well(visitor)
    page.get_by_label("Name").fill("This laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()
    well(visitor)
    page.get_by_role("button", name="Create the passkey").click()
    expect(page.locator("#recovery-codes")).to_contain_text("-")
    held = device.send("WebAuthn.getCredentials", {"authenticatorId": device_id})["credentials"]
    assert [(one["rpId"], one["isResidentCredential"]) for one in held] == [("localhost", True)]

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    page.goto(f"{root}{entity}")
    well(visitor)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Kaveri Bank")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    sign_in(visitor, member.email)
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    well(visitor)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Kaveri Bank")).to_be_visible()

    in_thread(visitor.service.advance, "PT6M")
    page.goto(f"{root}{entity}/secret")
    well(visitor)
    page.get_by_role("button", name="Use a passkey").first.click()
    expect(page.locator("#secret-text")).to_be_visible()

    page.goto(f"{root}/console/account/second-factor")
    well(visitor)
    page.get_by_role("button", name="passkey This laptop").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    well(visitor)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The passkey was removed")).to_be_visible()


def test_who_cancels_or_is_not_recognized_reads_why_and_stays(visitor: Visit) -> None:
    page, member = visitor.page, in_thread(new_member, visitor.service)
    device, device_id = authenticator(visitor)
    verified = {"authenticatorId": device_id, "isUserVerified": False}
    sign_in(visitor, member.email)
    page.goto(f"{visitor.service.root}/console/account/second-factor")
    page.get_by_label("Name").fill("This laptop")
    page.get_by_role("button", name="Add a passkey").click()
    device.send("WebAuthn.setUserVerified", verified)

    page.get_by_role("button", name="Create the passkey").click()

    expect(page.get_by_role("alert")).to_contain_text("It was cancelled")
    well(visitor)
    device.send("WebAuthn.setUserVerified", {**verified, "isUserVerified": True})
    page.get_by_role("button", name="Create the passkey").click()
    expect(page.locator("#recovery-codes")).to_contain_text("-")
