"""The second factor in a real browser: set up, signed in with, and asked for again."""

from playwright.sync_api import expect
from tests.browser.conftest import Visit, in_thread
from tests.support.members import new_member
from tests.support.people.second_factor import App
from tests.support.service import PASSWORD


def well(visit: Visit) -> None:
    """In each look nothing sticks out, and axe finds nothing."""
    for look in visit.looks():
        assert visit.violations() == [], look
        assert visit.fits(), look


def sign_in(visit: Visit, email: str) -> None:
    visit.page.goto(f"{visit.service.root}/console")
    visit.page.get_by_label("Email address").fill(email)
    visit.page.get_by_label("Password").fill(PASSWORD)
    visit.page.get_by_role("button", name="Sign in").click()


def test_an_app_is_set_up_and_its_codes_sign_in(tour: Visit) -> None:
    page, member = tour.page, in_thread(new_member, tour.service)
    sign_in(tour, member.email)
    page.goto(f"{tour.service.root}/console/account")
    page.get_by_role("link", name="Set one up").click()
    well(tour)
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    well(tour)
    app = App(tour.service, page.locator("#factor-key").inner_text().strip())
    page.get_by_role("textbox", name="Code").fill("000000")
    page.get_by_role("button", name="Use this app").click()
    expect(page.get_by_role("alert")).to_contain_text("The code is wrong")
    page.get_by_role("textbox", name="Code").fill(in_thread(app.code))
    page.get_by_role("button", name="Use this app").click()
    expect(page.locator("#recovery-codes")).to_contain_text("-")
    well(tour)
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("heading", name="Kaveri Bank")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()
    sign_in(tour, member.email)
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()
    well(tour)
    page.get_by_role("textbox", name="Code").fill(in_thread(app.fresh_code))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Kaveri Bank")).to_be_visible()

    page.goto(f"{tour.service.root}/console/account/second-factor")
    well(tour)
    page.get_by_role("button", name="Remove the app").click()
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    well(tour)
    page.get_by_role("textbox", name="Code").fill(in_thread(app.fresh_code))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("The authenticator app was removed")).to_be_visible()
