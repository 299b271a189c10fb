"""Every page: axe finds nothing, nothing sticks out, the policy is kept; deep, in every look.

The pages are those of `tools.demonstration`, which a test holds against the route table, so that
no new page is left out. What only an act leads to is looked at where the act is tested.
"""

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import LOOKS, Visit, in_thread
from tests.support.depth import DEEP, part, with_every_change
from tests.support.process import running_service
from tests.support.service import PASSWORD, Service
from tests.support.whole_network import Network, a_network
from tools.demonstration import Page, member_pages, public_pages

from mudra.console.framework.navigation import ACCOUNT, operator_path

_LATIN_TIMES = """[...document.querySelectorAll("time")].map((one) => one.textContent)
  .filter((text) => /[a-z]/i.test(text.replace(/UTC|IST/, "")))"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """A service of its own: some pages of its people are in Hindi afterwards."""
    data_dir = tmp_path_factory.mktemp("pages") / "data"
    with running_service(data_dir, keeps_store=True) as service:
        yield in_thread(a_network, service)


@pytest.fixture
def service(network: Network) -> Service:
    """The service that a tour visits."""
    return network.service


def sign_in(visit: Visit, email: str) -> None:
    page = visit.page
    page.goto(f"{visit.service.root}/console/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_attached()


def are_sound(visit: Visit, pages: Sequence[Page]) -> None:
    """Each page keeps the policy and fits, with every change in one width; axe-core sees a fifth.

    Of a page it takes most of the time. Head, menu, tables and forms are those of every page, and
    the tests of acts ask it of theirs.
    """
    asked = part(pages, 2)
    for place, one in enumerate(pages):
        visit.turn(place)
        answer = visit.page.goto(visit.service.root + one.path)
        assert answer is not None
        assert answer.ok, one.path
        expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
        expect(visit.page.locator(".coming")).to_have_count(0)  # what is loaded after the page
        if one in asked:
            for look in visit.looks():
                assert visit.found_by_axe() == [], (one.path, look)
        for width in visit.widths():
            assert visit.fits(), (one.path, width)
    visit.resize(LOOKS[-1][0])


def are_whole_in_hindi(visit: Visit, pages: Sequence[Page]) -> None:
    """Words are longer in Hindi, and nothing sticks out; times are written as Hindi does.

    A fifth of the pages with every change: that no English is left is asked of all without a
    browser (tests/http/console), and head, menu, tables and forms are those of every page.
    """
    for place, one in enumerate(part(pages, 0)):
        visit.turn(place)
        visit.page.goto(visit.service.root + one.path)
        expect(visit.page.locator("html[lang=hi]")).to_be_attached()
        assert visit.page.evaluate(_LATIN_TIMES) == [], one.path
        for width in visit.widths():
            assert visit.fits(), (one.path, width)


def test_public_pages(tour: Visit, network: Network) -> None:
    pages = public_pages(network.fip.entity_id, levels=True)
    are_sound(tour, pages)
    are_whole_in_hindi(tour, [Page(one.name, f"{one.path}?lang=hi") for one in pages[1:]])


BY_TYPE = {"overview", "health", "incident", "registration"}
"""The pages that show members of each type something else."""


@pytest.mark.parametrize("kind", with_every_change(["fip"], ["aa", "fip", "fiu"]))
def test_pages_of_a_member(tour: Visit, network: Network, kind: str) -> None:
    """All pages of the FIP, and those of the others that differ by type."""
    members = {
        "aa": (network.aa.aa_id, network.aa.admin),
        "fip": (network.fip.entity_id, network.fip.email),
        "fiu": (network.fiu.entity_id, network.fiu.email),
    }
    entity_id, email = members[kind]
    of_fip = (network.incident_id, network.dispute_id, network.report_id) if kind == "fip" else ()
    pages = member_pages(entity_id, email, *of_fip)
    if kind != "fip":
        pages = [one for one in pages if one.name.removeprefix(f"{kind}-") in BY_TYPE]
        assert len(pages) == len(BY_TYPE) - 1
    sign_in(tour, email)
    are_sound(tour, pages)

    tour.page.goto(tour.service.root + ACCOUNT)
    tour.page.get_by_label("Language", exact=True).select_option("hi")
    tour.page.get_by_role("region", name="Language").get_by_role("button", name="Save").click()
    expect(tour.page.locator("html[lang=hi]")).to_be_attached()
    are_whole_in_hindi(tour, [*pages, Page("account", ACCOUNT)])


def test_pages_of_an_operator(tour: Visit, network: Network) -> None:
    sign_in(tour, network.operator)
    are_sound(tour, network.pages_of_operator)

    page = tour.page
    page.goto(f"{tour.service.root}{operator_path(f'members/{network.fip.entity_id}')}")
    page.get_by_role("link", name="Tokens", exact=True).click()  # a phone shows one part at a time
    page.get_by_role("button", name="Stop tokens…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert [tour.found_by_axe() for _ in tour.looks()] == [[]] * (4 if DEEP else 1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()

    page.get_by_role("button", name="हिन्दी").click()
    expect(page.locator("html[lang=hi]")).to_be_attached()
    are_whole_in_hindi(tour, network.pages_of_operator)


@pytest.mark.parametrize(
    "path", ["/status/nothing", "/console/nothing", "/console/operator/nothing"]
)
def test_pages_of_wrong_addresses(tour: Visit, path: str) -> None:
    tour.page.goto(tour.service.root + path)
    expect(tour.page.get_by_role("heading", level=1)).to_be_visible()
    for look in tour.looks():
        assert tour.violations() == [], look
        assert tour.fits(), look
