"""A FIU finds the FIP that it uses among hundreds, and follows it."""

from playwright.sync_api import expect
from tests.browser.conftest import Visit, in_thread
from tests.support.members import new_member
from tests.support.registry.registry_members import live_entry
from tests.support.service import PASSWORD


def test_a_fip_to_follow_is_found_by_words(tour: Visit) -> None:
    service, page = tour.service, tour.page
    fips = [in_thread(live_entry, service)[0].member.entity_id for _ in range(2)]
    fiu = in_thread(new_member, service, "FIU")
    page.goto(f"{service.root}/console/entity/{fiu.entity_id}/health")
    page.get_by_label("Email address").fill(fiu.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_text("Follow a FIP").click()
    listed = page.locator("#fips li")
    for fip_id in fips:
        expect(listed.filter(has_text=fip_id)).to_be_visible()

    page.get_by_label("Search FIPs").fill(f"{fips[0].lower()} kaveri")
    expect(page.locator("#fips li:visible")).to_have_count(1)
    page.keyboard.press("Enter")  # searches, and follows nothing
    assert tour.violations() == []
    page.locator("#fips li:visible").get_by_role("button", name="Follow").click()

    expect(page.locator("#followed")).to_be_visible()
    expect(page.get_by_role("button", name="Unfollow")).to_have_count(1)
    expect(page.locator("ul.follow").first).to_contain_text(fips[0])
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)  # it does not refresh itself
