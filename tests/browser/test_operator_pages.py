"""The operator's pages in a real browser: the approval from end to end, axe and policy on each."""

import re

import httpx2
import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visit, in_thread
from tests.support.members import Member, new_member
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_commands import payload, send
from tests.support.service import PASSWORD, Service

from mudra.console.framework.navigation import operator_path

SCOPES = ("members", "registry", "health", "keys", "audit")


@pytest.fixture(scope="module")
def operator(service: Service) -> Operator:
    return in_thread(new_operator, service, *SCOPES)


def sign_in(visit: Visit, operator: Operator) -> None:
    page = visit.page
    page.goto(f"{visit.service.root}/console/sign-in")
    page.get_by_label("Email address").fill(operator.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Needs attention this week")).to_be_visible()


def served_to(reader: Member, member: Member) -> str:
    """The base address that the directory serves of a member, to an entity that looks it up."""
    token = reader.entity_token(reader.secret()).json()["accessToken"]
    found = httpx2.get(
        f"{reader.service.root}/cr/v2/entityInfo/FIP/{member.entity_id}",
        headers={"Authorization": f"Bearer {token}"},
    )
    return str(found.json()["entityinfo"]["baseurl"]) if found.status_code == 200 else ""


def test_an_operator_compares_an_update_and_approves_it(visit: Visit, operator: Operator) -> None:
    member, counterparty = (
        in_thread(new_member, visit.service),
        in_thread(new_member, visit.service, "AA"),
    )
    made = payload(member)
    in_thread(send, member, made)
    sign_in(visit, operator)
    page = visit.page

    row = page.get_by_role("listitem").filter(has_text=member.entity_id)
    row.get_by_role("link", name=re.compile("'s first registration")).click()
    expect(page.get_by_text("First registration: nothing is live yet.")).to_be_visible()
    page.get_by_role("button", name="Approve version 1").click()
    expect(page.get_by_role("status")).to_have_text("Approved.")
    changed = payload(member, baseurl="v2:https://moved.example/v2")  # another key as well
    in_thread(send, member, changed, update=True)
    page.goto(f"{visit.service.root}{operator_path('approvals')}")
    page.get_by_role("row").filter(has_text=member.entity_id).get_by_role("link").click()

    expect(page.get_by_text("New key.")).to_be_visible()
    expect(page.get_by_text("Calls go to another address.")).to_be_visible()
    expect(page.locator(".new", has_text="https://moved.example/v2")).to_be_visible()
    assert visit.violations() == []
    assert visit.fits()
    assert "moved" not in in_thread(served_to, counterparty, member)
    page.get_by_role("button", name="Approve version 2").click()
    expect(page.get_by_role("status")).to_have_text("Approved.")
    assert in_thread(served_to, counterparty, member) == "v2:https://moved.example/v2"


def test_times_are_in_the_zone_of_the_reader(tour: Visit, operator: Operator) -> None:
    sign_in(tour, operator)
    page = tour.page
    written = page.locator(".live time").first  # UTC on hover
    expect(written).to_have_attribute("title", re.compile(r"^\d{4}(-\d\d){2} [\d:]{8} UTC$"))
    expect(written).to_have_text(re.compile(r"^\d\d? \w{3}, \d\d:\d\d.UTC$"))  # the browser's
    expect(page.get_by_role("button", name="Browser")).to_have_text("Browser (UTC)")
    page.get_by_role("button", name="IST", exact=True).click()
    expect(written).to_have_text(re.compile(r"\d\d.IST$"))


def test_a_refused_silence_shows_why_in_sight(visit: Visit, operator: Operator) -> None:
    sign_in(visit, operator)
    page = visit.page
    page.set_viewport_size({"width": page.evaluate("innerWidth"), "height": 320})
    page.goto(f"{visit.service.root}{operator_path('incidents')}")
    page.get_by_text("Start a silence").click()
    page.get_by_label("Member (name or ID").fill("NO-SUCH-FIP")
    page.get_by_label("Reason").fill("typed with care")
    page.get_by_role("button", name="Start silence").click()

    problem = page.get_by_role("alert")
    expect(problem).to_have_text("No member has the entity ID NO-SUCH-FIP.")
    expect(problem).to_be_in_viewport()
    expect(page.get_by_label("Reason")).to_have_value("typed with care")


def test_institutions_are_chosen_by_name_and_taken_away(visit: Visit, operator: Operator) -> None:
    """The field of IDs is a list of names; what is typed without choosing counts too."""
    first, second, third = (in_thread(new_member, visit.service, "FIP").entity_id for _ in "abc")
    sign_in(visit, operator)
    page = visit.page
    page.goto(f"{visit.service.root}{operator_path('announcements')}")
    finder = page.get_by_label("Institutions")
    finder.fill(first)
    finder.fill(f"{second}, {third}")
    finder.press("Tab")

    expect(page.locator(".chips li")).to_have_count(3)
    page.get_by_role("button", name="Remove").nth(1).click()
    expect(page.locator("input[name=institutions]")).to_have_value(f"{first}, {third}")
    expect(page.locator("input[name=institutions]")).to_be_hidden()
    expect(finder).to_be_focused()
    assert visit.violations() == []


def test_what_to_do_with_ticked_members_is_in_sight(visit: Visit, operator: Operator) -> None:
    for _ in range(3):
        in_thread(new_member, visit.service)
    sign_in(visit, operator)
    page = visit.page
    page.set_viewport_size({"width": page.evaluate("innerWidth"), "height": 480})
    page.goto(f"{visit.service.root}{operator_path('members')}")
    act = page.get_by_role("button", name="Those ticked above…")
    expect(act).not_to_be_in_viewport()

    page.get_by_role("checkbox", name=re.compile("^Choose")).first.check()

    expect(act).to_be_in_viewport(ratio=1)
    assert visit.violations() == []
    assert visit.fits()


def test_a_key_on_any_page_leads_to_the_search(visit: Visit, operator: Operator) -> None:
    member = in_thread(new_member, visit.service)
    sign_in(visit, operator)
    page = visit.page

    page.wait_for_load_state()  # the keys are read by a script
    page.keyboard.press("/")
    expect(page.get_by_label("Search everything")).to_be_focused()
    page.keyboard.type(member.entity_id.lower())
    found = page.locator(".palette a")
    expect(found.first).to_contain_text("Kaveri Bank")  # while one types
    assert visit.violations() == []
    page.keyboard.press("ArrowDown")
    expect(found.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(found.first).to_be_hidden()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(f"/members/{member.entity_id}$"))
    page.wait_for_load_state()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Search everything")).to_be_focused()
    expect(page.get_by_role("link", name="Board").last).to_be_visible()  # a page seen before


@pytest.mark.slow
def test_a_form_outlives_the_session_that_it_was_typed_in(visit: Visit, operator: Operator) -> None:
    sign_in(visit, operator)
    page = visit.page
    page.goto(f"{visit.service.root}{operator_path('onboard')}")
    page.get_by_label("Entity ID").fill("TYPED-WITH-CARE")
    page.get_by_label("Type").select_option("FIU")
    page.get_by_label(re.compile("^Member.s name")).fill("Typed Bank")
    page.get_by_label(re.compile("Admin.s email address")).fill("typed@member.example")

    page.context.clear_cookies(name="mudra")
    page.get_by_role("button", name="Onboard").click()
    expect(page.get_by_text("What you typed is kept.")).to_be_visible()
    page.get_by_label("Email address").fill(operator.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_label("Entity ID")).to_have_value("TYPED-WITH-CARE")
    expect(page.get_by_label("Type")).to_have_value("FIU")
    expect(page.get_by_label(re.compile("^Member.s name"))).to_have_value("Typed Bank")
    page.reload()
    expect(page.get_by_label("Entity ID")).to_have_value("")


def test_a_form_that_comes_back_is_in_sight_on_a_phone(visit: Visit, operator: Operator) -> None:
    member = in_thread(new_member, visit.service)
    sign_in(visit, operator)
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 400})
    page.goto(f"{visit.service.root}{operator_path(f'members/{member.entity_id}')}")
    page.locator("nav.index a", has_text="Admins").click()
    page.get_by_text("Backup contact").click()
    page.get_by_label("Telephone").fill("+91 22 5550 0100")
    page.locator("nav.index a", has_text="Secret").click()
    expect(page.get_by_label("Telephone")).to_be_hidden()
    page.locator("nav.index a", has_text="Admins").click()

    page.context.clear_cookies(name="mudra")
    page.get_by_role("button", name="Save").locator("visible=true").click()
    page.get_by_label("Email address").fill(operator.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_label("Telephone")).to_have_value("+91 22 5550 0100")
    expect(page.get_by_label("Telephone")).to_be_visible()


def test_the_chosen_colors_stay(visit: Visit, operator: Operator) -> None:
    sign_in(visit, operator)
    page, dark = visit.page, visit.page.locator("link[data-dark]")
    page.emulate_media(color_scheme="light")

    page.get_by_role("button", name="Dark", exact=True).click()
    expect(dark).to_have_attribute("media", "all")
    assert visit.violations() == []
    page.reload()

    expect(dark).to_have_attribute("media", "all")
    expect(page.get_by_role("button", name="Dark", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )


def test_parts_of_a_long_page_are_tabs_on_a_phone(tour: Visit, operator: Operator) -> None:
    """On a wide screen all parts are there; what asks for an act stays in sight."""
    member = in_thread(new_member, tour.service)
    sign_in(tour, operator)
    page = tour.page
    page.set_viewport_size({"width": 390, "height": 560})
    page.goto(f"{tour.service.root}{operator_path(f'members/{member.entity_id}')}")
    tabs = page.locator("nav.index a")
    parts = page.locator("main section > h2:visible, main section > .apart > h2:visible")
    expect(tabs.first).to_have_attribute("aria-current", "true")
    expect(parts).to_have_count(1)
    boxes = [box for tab in tabs.all() if (box := tab.bounding_box())]
    assert len(boxes) == tabs.count()
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)

    tabs.filter(has_text="Secret").click()

    expect(parts).to_have_text(["Secret"])
    assert tour.violations() == []
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(parts).to_have_count(tabs.count())
