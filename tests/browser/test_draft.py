"""What is typed into a registration: never lost, and never judged as something else."""

import re

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Visit, in_thread
from tests.support.members import Member, new_member
from tests.support.registry.registry_payloads import jwk, public_pem
from tests.support.service import PASSWORD

from mudra.console.framework.static_assets import STATIC

pytestmark = pytest.mark.skipif(
    not (STATIC / "built" / "htmx.min.js").exists(), reason="without htmx nothing is shown so early"
)


def signed_in(page: Page, member: Member) -> None:
    page.get_by_label("Email address").fill(member.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def signed_out_elsewhere(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_text("You are signed out.")).to_be_visible()
    other.close()


def heard(tour: Visit, *failures: str) -> None:
    """What htmx logs of the failures that a test brought about, and no other."""
    shown = [one for one in tour.complaints if not any(failure in one for failure in failures)]
    assert len(shown) < len(tour.complaints)
    tour.complaints[:] = shown


def test_a_draft_outlives_the_session_that_it_was_typed_in(tour: Visit) -> None:
    member, page = in_thread(new_member, tour.service, "FIP"), tour.page
    name, verdict = page.get_by_label(re.compile("^Name")), page.locator("#verdict")
    kept = page.get_by_text("Your unsubmitted changes were restored.")
    page.goto(f"{tour.service.root}/console/entity/{member.entity_id}/registration")
    signed_in(page, member)
    name.fill("Bank of Two Sessions")
    expect(verdict).to_contain_text("5 fields to fill in.")  # an empty field is no error yet
    expect(page.locator(".found:visible")).to_have_count(0)
    expect(page.locator("#findings")).to_contain_text("$.entityinfo.baseurl")

    signed_out_elsewhere(page)
    page.get_by_label("Code").fill("TYPED-LATER")
    page.keyboard.press("Tab")
    expect(verdict).to_contain_text("Not checked: you signed out")
    expect(page.locator("#findings")).to_have_text("Not checked.")
    assert tour.violations() == []
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Your session had ended, so nothing was changed.")).to_be_visible()
    signed_in(page, member)

    expect(kept).to_be_visible()
    expect(name).to_have_value("Bank of Two Sessions")
    expect(page.get_by_label("Code")).to_have_value("TYPED-LATER")
    expect(page.get_by_label("Payload")).to_have_value(re.compile('"code": "TYPED-LATER"'))
    for look in tour.looks():
        assert tour.violations() == [], look
        assert tour.fits(), look
    page.get_by_role("button", name="Discard them").click()
    expect(page.get_by_label("Code")).to_have_value("")
    page.reload()
    expect(page.get_by_label("Code")).to_have_value("")
    expect(kept).to_be_hidden()
    heard(tour, "Response Status Error Code 403")


def test_a_verdict_is_of_the_draft_that_is_seen(tour: Visit) -> None:
    member, page = in_thread(new_member, tour.service, "FIP"), tour.page
    verdict, key = page.locator("#verdict"), page.get_by_label("Public key")
    page.goto(f"{tour.service.root}/console/entity/{member.entity_id}/registration")
    signed_in(page, member)
    page.route("**/registration/check", lambda at: at.abort())
    page.get_by_label("Code").fill("REG-1")
    page.keyboard.press("Tab")
    expect(verdict).to_contain_text("the service is not available")
    page.unroute("**/registration/check")
    page.get_by_label("Code").fill("REG-2")
    page.keyboard.press("Tab")
    expect(verdict).to_contain_text("4 fields to fill in")

    key.fill('{"kty":')
    page.get_by_label("Code").fill("REG-3")
    expect(verdict).to_contain_text("The public key cannot be read")
    expect(key).to_have_value('{"kty":')  # typing elsewhere takes nothing away
    page.keyboard.press("Tab")
    expect(verdict).to_contain_text("The public key cannot be read")
    page.get_by_role("button", name="Submit").click()
    expect(key).to_be_focused()
    page.get_by_text("As JSON").click()
    page.get_by_label("Payload").fill("")
    expect(page.locator("#findings")).to_contain_text("it is empty")
    expect(verdict).to_contain_text("1 field needs attention")
    expect(page.get_by_text("Fix the JSON to use the form")).to_be_visible()
    assert tour.violations() == []
    page.get_by_label("Payload").fill('{"entityinfo": {"fitypes": "DEPOSIT"}}')
    page.get_by_label("Term deposit").check()
    expect(page.get_by_label("Payload")).to_have_value(
        '{\n  "entityinfo": {\n    "fitypes": [\n      "TERM_DEPOSIT"\n    ]\n  }\n}'
    )
    heard(tour, "htmx:afterRequest", "htmx:sendError")


def test_a_registration_is_a_conversation(tour: Visit) -> None:
    """Calm at first; each field is checked when it is left, and takes what people have."""
    member, page = in_thread(new_member, tour.service, "FIP"), tour.page
    verdict, shown = page.locator("#verdict"), page.locator(".found:visible")
    page.goto(f"{tour.service.root}/console/entity/{member.entity_id}/registration")
    signed_in(page, member)
    expect(verdict).to_have_class("verdict open")
    expect(shown).to_have_count(0)

    page.get_by_label("Base URL").press_sequentially("http:/somewhere")
    expect(shown).to_have_count(0)
    page.keyboard.press("Tab")
    expect(page.locator("#found-baseurl")).to_contain_text("an absolute https URL")
    expect(page.locator("#findings").get_by_role("link", name="Base URL")).to_be_visible()
    page.get_by_label("Base URL").fill("v2:https://api.member.example/v2")
    page.get_by_label("Code").fill("REG-1")
    page.get_by_label("Search FI types").fill("mutual")
    expect(page.locator(".checks label:visible")).to_have_count(1)
    page.get_by_label("Mutual funds").check()
    page.get_by_label("IP addresses 1").fill("198.51.100.7")
    page.get_by_role("button", name="Add an IP address or network").click()
    page.get_by_label("IP addresses 2").fill("300.1.1.1")
    page.keyboard.press("Tab")
    expect(page.locator("#found-ips")).to_contain_text('2: must not be "300.1.1.1"')
    expect(page.locator("#findings")).to_contain_text("IP addresses 2")
    page.locator("#f-ips").get_by_role("button", name="Remove").last.click()

    key = page.get_by_label("Public key")
    key.fill("-----BEGIN PRIVATE KEY-----")
    page.keyboard.press("Tab")
    expect(page.locator("#found-certificate")).to_contain_text("never leave your systems")
    pem = {"name": "bank.pem", "mimeType": "text/plain", "buffer": public_pem(7801)}
    page.get_by_label("Or choose a file").set_input_files(files=[pem])
    expect(page.get_by_text("RSA key of 2048 bits for RS256")).to_be_visible()
    expect(page.locator("#found-certificate")).to_be_hidden()
    expect(key).to_have_value(re.compile(re.escape(str(jwk(7801)["n"]))))
    expect(verdict).to_contain_text("No errors in this draft.")
    for look in tour.looks():
        assert tour.violations() == [], look
        assert tour.fits(), look


def test_a_key_that_is_still_being_read_is_submitted_too(tour: Visit) -> None:
    member, page = in_thread(new_member, tour.service, "FIU"), tour.page
    page.goto(f"{tour.service.root}/console/entity/{member.entity_id}/registration")
    signed_in(page, member)
    page.get_by_label("Code").fill("REG-1")
    page.get_by_label("Base URL").fill("v2:https://api.member.example/v2")
    page.get_by_label("IP addresses 1").fill("198.51.100.7")
    held: list[Route] = []

    def hold(at: Route) -> None:
        held.append(at)

    page.route("**/registration/key", hold)
    with page.expect_request("**/registration/key"):
        page.get_by_label("Public key").fill(public_pem(7801).decode())
        page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Submit").click()
    with page.expect_request("**/registration/submit") as submitted:
        held[0].continue_()

    expect(page.get_by_text("Submitted. It is pending")).to_be_visible()
    assert str(jwk(7801)["n"]) in (submitted.value.post_data_json or {})["payload"]


def test_a_refused_submission_names_the_fields_and_no_path_of_the_payload(tour: Visit) -> None:
    member, page = in_thread(new_member, tour.service, "AA"), tour.page
    page.goto(f"{tour.service.root}/console/entity/{member.entity_id}/registration")
    signed_in(page, member)
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    page.locator("#registration").evaluate("form => form.submit()")  # as without scripts

    refused = page.get_by_role("alert")
    expect(refused).to_have_text("Nothing was submitted. The findings say what to change.")
    expect(page.locator("#verdict")).to_contain_text("fields need attention")
