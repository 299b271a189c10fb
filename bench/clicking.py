"""One who acts in a browser: each click is counted, each page on the way is looked at."""

from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Browser, Locator, Page, Request, expect
from tests.support.service import PASSWORD, Service

_PATIENCE_MS: Final = 60_000
_PHONE: Final = 500
_PAINT: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_AXE: Final = (
    "axe.run(document, { resultTypes: ['violations'], iframes: false })"
    ".then(r => r.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))"
)
_CUT: Final = (
    "document.documentElement.scrollWidth > innerWidth || [...document"
    ".querySelectorAll('.table .scroll')].some(one =>"
    " one.offsetParent && one.scrollWidth > one.clientWidth + 1)"
)


@dataclass
class Hand:
    """One who acts in a browser: each click is counted, each page looked at."""

    browser: Browser
    service: Service
    axe: str
    width: int
    clicks: int = 0
    opened: int = 0
    """Clicks on the folded menu or parts of a phone, which are among the clicks."""
    seen: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    kilobytes: float = 0.0
    tab: Page = field(init=False)

    def begin(self, email: str, path: str, password: str = PASSWORD) -> None:
        """Open a page as somebody: the sign-in is not counted, nor is the page before it."""
        if hasattr(self, "tab"):
            self.tab.context.close()
        context = self.browser.new_context(
            viewport={"width": self.width, "height": 844 if self.width < _PHONE else 900},
            reduced_motion="reduce",
        )
        context.add_init_script(self.axe)
        self.tab = context.new_page()
        self.tab.set_default_timeout(_PATIENCE_MS)
        self.tab.on("requestfinished", self._finished)
        self.tab.goto(path if path.startswith("http") else f"{self.service.root}{path}")
        if email:
            self.tab.get_by_label("Email address").fill(email)
            self.tab.get_by_label("Password", exact=True).fill(password)
            self.tab.get_by_role("button", name="Sign in", exact=True).click()
            self.tab.wait_for_url(lambda url: "sign-in" not in url)
        self.look()

    def click(self, wanted: Locator) -> None:
        """Click, and look at the page that comes."""
        self.clicks += 1
        wanted.first.click()
        self.look()

    def press_enter(self) -> None:
        """Send a form by the key, which counts as a click."""
        self.clicks += 1
        self.tab.keyboard.press("Enter")
        self.look()

    def menu(self, title: str) -> None:
        """Use the menu, which on a phone is folded: one click more."""
        folded = self.tab.get_by_role("button", name="Menu")
        if folded.is_visible():
            self.opened += 1
            self.click(folded)
        self.click(self.tab.locator("#menu").get_by_role("link", name=title, exact=True))

    def part(self, title: str) -> None:
        """Choose a part of a long page, of which a phone shows one at a time: one click more."""
        if not self.tab.get_by_role("heading", name=title).is_visible():
            self.opened += 1
            self.click(self.tab.locator("nav.index").get_by_role("link", name=title))

    def confirm(self) -> None:
        """Type the password where the page asks who acts; not counted, as a sign-in is not."""
        if self.tab.get_by_role("heading", name="Confirm that it is you").is_visible():
            self.tab.get_by_label("Your password").fill(PASSWORD)
            self.tab.keyboard.press("Enter")
            self.look()

    def look(self) -> None:
        """Note what axe-core finds, what sticks out, the size and the first paint of a new page."""
        self.tab.wait_for_load_state("load")
        path = self.tab.url.removeprefix(self.service.root).partition("?")[0].partition("#")[0]
        expect(self.tab.locator(".coming")).to_have_count(0, timeout=_PATIENCE_MS)
        self.faults += [f"{path}: {one}" for one in self.tab.evaluate(_AXE)]
        if self.tab.evaluate(_CUT):
            self.faults.append(f"{path}: something sticks out at {self.width} px")
        if path not in self.seen:
            self.seen[path] = f"{self.kilobytes:6.0f} kB {self.tab.evaluate(_PAINT):6.0f} ms"
        self.kilobytes = 0.0

    def _finished(self, request: Request) -> None:
        self.kilobytes += request.sizes()["responseBodySize"] / 1000
