"""A member's whole story in a real browser: from the mail to a verified token."""

import re
from datetime import datetime

from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Visit, in_thread
from tests.support.mailbox import latest_link
from tests.support.members import onboard

from mudra.client import TokenVerifier
from mudra.console.framework.static_assets import STATIC

PASSWORD = "granite otter velvet lamp"
HTMX = (STATIC / "built" / "htmx.min.js").exists()
PAGES = ("Overview", "Try it", "Health", "Registration", "People", "Activity", "Your account")


def well(visit: Visit) -> None:
    """Nothing sticks out, and axe finds nothing."""
    assert visit.violations() == []
    assert visit.fits()


def to(page: Page, title: str) -> None:
    """Use the menu, which is folded on a narrow screen."""
    menu = page.get_by_role("button", name="Menu")
    if menu.is_visible():
        menu.click()
    page.get_by_role("navigation", name="Console").get_by_role("link", name=title).click()
    # Until then the page before is there, whose menu the next one would unfold.
    expect(page.locator("nav [aria-current=page]")).to_contain_text(title)
    page.wait_for_load_state()  # a page comes in pieces, and the script folds its menu at the end


def shows_errors_while_typing(page: Page) -> None:
    """What is wrong is at its field once it is left, and how much is wrong stays in sight.

    So does what was typed before htmx came, which is after the first paint.
    """
    held: list[Route] = []
    page.route("**/htmx.min.js*", lambda at: held.append(at))  # noqa: PLW0108  # no builtin
    with page.expect_request("**/htmx.min.js*"):
        page.reload()
    page.get_by_label("Base URL").fill("http:/somewhere")
    page.keyboard.press("Tab")
    held[0].continue_()
    page.unroute("**/htmx.min.js*")
    expect(page.locator("#found-baseurl")).to_contain_text("an absolute https URL")
    page.get_by_label("Public key").fill("{")
    page.keyboard.press("Tab")
    expect(page.locator("#found-certificate")).to_contain_text("That is not a public key")
    expect(page.locator("#verdict")).to_contain_text("The public key cannot be read")
    expect(page.locator("#verdict")).to_be_in_viewport()
    page.get_by_role("link", name="Base URL").click()
    expect(page.get_by_label("Base URL")).to_be_in_viewport()


def is_gone_at_a_reload(page: Page) -> None:
    """The secret is on the screen once, and a reload asks for no second reset."""
    page.reload()
    expect(page.get_by_role("button", name="Show the secret")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


ELSEWHERE = {
    "http://elsewhere.example/": 303,  # another site: the cookie stays at home
    "http://127.0.0.1:9499/": 403,  # of this host: the cookie comes, the request is refused
}


def is_refused_from_elsewhere(page: Page, root: str) -> None:
    """I10: a form of another origin, sent by a browser that is signed in, changes nothing."""
    form = f'<form method="post" action="{root}/console/sign-out"><button>Win</button></form>'
    for origin, status in ELSEWHERE.items():
        other = page.context.new_page()
        other.route(origin, lambda at: at.fulfill(body=form, content_type="text/html"))
        other.goto(origin)
        with other.expect_response(f"{root}/console/sign-out") as shown:
            other.get_by_role("button", name="Win").click()
        assert shown.value.status == status, origin
        other.close()
    page.reload()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_from_the_mail_to_a_verified_token(visit: Visit) -> None:
    entity_id, email = in_thread(onboard, visit.service)
    page = visit.page

    page.goto(in_thread(latest_link, visit.service, email))
    page.get_by_label("New password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Needs attention now")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    well(visit)
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill("something else entirely")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("Username or password is wrong")
    well(visit)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Needs attention now")).to_be_visible()
    well(visit)
    to(page, "Secret")
    page.get_by_role("button", name="Show the secret").click()
    secret = page.get_by_label("The secret", exact=True).inner_text()
    well(visit)
    made = page.locator("time").first  # in the reader's zone, with UTC on hover
    expect(made).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))
    expect(made).not_to_contain_text("UTC")
    page.get_by_role("button", name="Reset the secret…").click()
    expect(page.get_by_role("dialog")).to_contain_text("grace period")
    well(visit)
    page.get_by_role("button", name="Reset it").click()
    expect(page.get_by_role("status").first).to_contain_text("The secret was reset.")
    expect(page.get_by_text("The next reset is permitted from")).to_be_visible()
    expect(page.get_by_role("heading", name="Old secret")).to_be_visible()
    renewed = page.get_by_label("The secret", exact=True).inner_text()
    assert renewed != secret
    well(visit)
    is_gone_at_a_reload(page)

    for title in PAGES:
        to(page, title)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if title == "Registration" and HTMX:
            shows_errors_while_typing(page)
        assert visit.fits(), title  # axe looks at these pages in test_every_page
    answer = visit.service.client().post(
        "/v1/entity/token/generate", data={"id": entity_id, "secret": renewed}
    )
    made = datetime.fromisoformat(answer.json()["timestamp"]).timestamp()  # by the moved clock
    verifier = TokenVerifier(visit.service.issuer, wall=lambda: made)
    verified = verifier.verify(answer.json()["accessToken"])
    assert verified.entity_id == entity_id

    is_refused_from_elsewhere(page, visit.service.root)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
