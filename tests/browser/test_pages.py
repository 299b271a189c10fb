"""The pages in a real browser: the link of a mail, and the sandbox's home (spec 1.3b)."""

import re

import httpx2
from playwright.sync_api import Browser, expect
from tests.browser.conftest import Visit, in_thread
from tests.support.mailbox import latest_link
from tests.support.members import new_member, onboard, set_password
from tests.support.people.operators import new_operator
from tests.support.service import PASSWORD, Service

_REFRESH = """() => new Promise((done) => {
  document.addEventListener("htmx:afterSettle", () => done(), { once: true });
  const look = () => window.htmx ? htmx.trigger("#live", "look") : setTimeout(look, 50);
  look();
})"""
"""A live page looks at once for what is new, and shows it."""


def is_sound(visit: Visit) -> None:
    """In each look axe finds nothing, and nothing sticks out to the side."""
    for look in visit.looks():
        assert visit.violations() == [], (visit.page.url, look)
        assert visit.fits(), (visit.page.url, look)


def test_a_weak_password_is_refused_in_words_and_a_good_one_is_taken(tour: Visit) -> None:
    _, email = in_thread(onboard, tour.service)
    page = tour.page
    page.goto(in_thread(latest_link, tour.service, email))
    field, problem = page.get_by_label("New password"), page.get_by_role("alert")
    is_sound(tour)

    field.fill("short")
    page.get_by_role("button", name="Set password").click()
    expect(problem).to_have_text("The password needs at least 15 characters.")
    field.fill("passwordpassword")
    page.get_by_role("button", name="Set password").click()
    expect(problem).to_contain_text(re.compile("password", re.IGNORECASE))
    expect(field).to_be_focused()
    is_sound(tour)
    field.fill("granite otter velvet lamp ")
    page.keyboard.press("Enter")
    expect(problem).to_contain_text("begins or ends with a space")
    field.fill("granite otter velvet lamp")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Needs attention now")).to_be_visible()  # signed in
    is_sound(tour)
    signed_in = tour.service.client().post(
        "/v1/user/token/generate", data={"username": email, "password": "granite otter velvet lamp"}
    )
    assert signed_in.status_code == 200


def test_a_used_link_says_so_and_a_new_one_can_be_asked_for(tour: Visit) -> None:
    _, email = in_thread(onboard, tour.service)
    link = in_thread(latest_link, tour.service, email)
    page = tour.page
    page.goto(link)
    assert in_thread(set_password, tour.service.client(), link).status_code == 200

    page.get_by_label("New password").fill("granite otter velvet lamp")  # a page that is behind
    with page.expect_response(lambda one: one.status == 410):
        page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("heading", name="This link has already been used.")).to_be_visible()
    is_sound(tour)
    page.get_by_role("button", name="Send me a new link").click()
    expect(page.get_by_role("alert")).to_have_text("Enter your email address.")
    page.get_by_label("Your email address").fill("no address")
    page.get_by_role("button", name="Send me a new link").click()
    expect(page.get_by_role("alert")).to_have_text("Enter your email address.")
    page.get_by_label("Your email address").fill(email)
    page.get_by_role("button", name="Send me a new link").click()

    expect(page.get_by_text("If the address is known, a link is on its way.")).to_be_visible()
    is_sound(tour)
    in_thread(tour.service.wait_until, lambda: latest_link(tour.service, email) != link)


def test_an_expired_and_a_broken_link_say_so(tour: Visit) -> None:
    _, email = in_thread(onboard, tour.service)
    link = in_thread(latest_link, tour.service, email)

    tour.page.goto(link[:-3])
    expect(tour.page.get_by_role("heading", name="This link is not valid.")).to_be_visible()
    tour.service.advance("PT24H1S")
    tour.page.goto(link)

    expect(tour.page.get_by_role("heading", name="This link has expired.")).to_be_visible()
    is_sound(tour)


def test_the_sandbox_shows_members_and_mails_and_moves_the_clock(tour: Visit) -> None:
    entity_id, email = in_thread(onboard, tour.service)
    page = tour.page
    answer = page.goto(f"{tour.service.root}/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert PASSWORD not in page.content()
    is_sound(tour)

    field = page.get_by_role("searchbox", name="Filter Members")
    if field.count():  # by other tests' members the table has more than a page
        field.fill(entity_id)
        page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name=entity_id)).to_be_visible()
    page.goto(f"{tour.service.root}/")
    page.get_by_text(f"to {email}").click()
    link = page.locator("details[open]").get_by_role("link", name="Open the link in this email")
    expect(link).to_be_visible()
    before = page.locator(".clock time").get_attribute("datetime")
    with page.expect_navigation():
        page.get_by_role("button", name="1 hour").click()
    after = page.locator(".clock time").get_attribute("datetime")

    assert before is not None
    assert after is not None
    assert before < after
    page.get_by_text(f"to {email}").click()
    link.click()
    expect(page.get_by_role("heading", name="Set your password")).to_be_visible()
    is_sound(tour)


def test_the_bars_name_each_day_to_pointer_and_keys(tour: Visit) -> None:
    fip_id, _ = in_thread(onboard, tour.service, "FIP")
    address = f"{tour.service.root}/status/fip/{fip_id}"
    in_thread(tour.service.wait_until, lambda: httpx2.get(address).status_code == 200)
    page = tour.page
    page.goto(address)
    bars, note = page.get_by_role("slider"), page.locator("#day-note")

    bars.focus()
    page.keyboard.press("Home")
    expect(note).to_have_text(re.compile(r"\d{4}: no data$"))
    first = note.inner_text()
    page.keyboard.press("ArrowRight")
    expect(bars).to_have_attribute("aria-valuenow", "2")
    expect(note).not_to_have_text(first)
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    bars.hover(position={"x": 2, "y": 5})
    expect(note).to_have_text(first)
    is_sound(tour)


def test_fields_are_in_the_zone_of_the_browser_once_it_is_known(
    browser: Browser, service: Service
) -> None:
    operator = in_thread(new_operator, service, "health")
    context = browser.new_context(timezone_id="Europe/Berlin")
    page = context.new_page()
    health = "/console/operator/health"
    pinned = f"{health}?from=2026-07-01T10:00:00Z&to=2026-07-01T12:00:00Z"
    page.goto(f"{service.root}/console/sign-in?to={health}")
    page.get_by_label("Email address").fill(operator.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Network health")).to_be_visible()

    expect(page.locator("head script[src*='htmx']")).to_be_attached()
    page.locator(".pickers summary").first.click()
    start = page.get_by_label("From (Europe/Berlin)")
    start.fill("2026-07-01T09:00")
    page.evaluate(_REFRESH)
    expect(start).to_have_value("2026-07-01T09:00")  # a refresh leaves what is being typed

    page.goto(service.root + pinned)
    page.locator(".pickers summary").first.click()
    expect(page.get_by_label("From (Europe/Berlin)")).to_have_value("2026-07-01T12:00")
    page.get_by_label("From (Europe/Berlin)").fill("2026-07-01T11:30")
    page.get_by_role("button", name="Show").click()

    shown = page.locator(".pickers summary time").first
    expect(shown).to_have_attribute("datetime", "2026-07-01T09:30:00Z")
    expect(shown).to_have_text(re.compile("11:30"))
    page.get_by_role("button", name="IST").click()
    expect(shown).to_have_text(re.compile("15:00"))
    context.close()


def test_without_scripts_what_a_dialog_asks_is_in_the_page(tour: Visit) -> None:
    member = in_thread(new_member, tour.service)
    here = f"{tour.service.root}/console/entity/{member.entity_id}"
    browser = tour.page.context.browser
    assert browser is not None
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{here}/people")
        page.get_by_label("Email address").fill(member.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("last admin")
        page.goto(f"{here}/secret")
        expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
        page.get_by_role("button", name="Reset it").click()
        expect(page.get_by_role("status").first).to_contain_text("The secret was reset.")
