"""A real Chromium, and what every page must keep to."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, ParamSpec, TypeVar

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from tests.support.depth import DAY, DEEP, is_due
from tests.support.programs import program
from tests.support.service import Service
from tests.support.until import PATIENCE_S

_PATIENCE_MS: Final = PATIENCE_S * 1000
_BROWSER: Final = (
    "--no-sandbox",
    "--in-process-gpu",
    "--js-flags=--always-sparkplug --no-turbofan",
)
"""A page lives for seconds: to compile its scripts at once, and to optimize them quickly or not at
all, takes a tenth less CPU than to optimize them well."""
Scheme = Literal["light", "dark"]
LOOKS: Final[tuple[tuple[int, Scheme], ...]] = ((1280, "light"), (390, "dark"))
OTHER: Final[Mapping[Scheme, Scheme]] = {"light": "dark", "dark": "light"}
COLORS: Final = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that another color scheme can break: the others see the same page."""


@pytest.fixture(scope="session")  # ended before others run (order.py): it has an event loop
def browser() -> Iterator[Browser]:
    chromium = program("chromium")
    program("libatomic")  # for Playwright's own Node.js
    expect.set_options(timeout=_PATIENCE_MS)  # of a machine that does much else
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=_BROWSER)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core."""
    return Path(program("axe-core")).read_text()


T = TypeVar("T")
P = ParamSpec("P")


def in_thread(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what needs an event loop of its own: Playwright's holds this thread."""
    with ThreadPoolExecutor(1) as one:
        return one.submit(act, *args, **kwargs).result()


_DRAWN_MS = 5_000


@dataclass
class Visit:
    """A page that is watched: whatever it asks for elsewhere or complains of is kept."""

    page: Page
    service: Service
    axe: str
    """The text of axe-core: each page that it looks at loads half a megabyte, and no other does."""
    complaints: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    acts: int = 0
    """How often it was to be asked what axe-core finds."""
    only_colors: bool = False
    """Whether this look differs from the one before in colors alone."""

    def noticed(self, message: ConsoleMessage) -> None:
        # A refusal that the page itself shows (400, 410) is logged by the browser too.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def asked(self, request: Request) -> None:
        if not request.url.startswith((self.service.root, "data:")):
            self.strangers.append(request.url)

    def violations(self) -> list[str]:
        """What axe-core finds wrong with what an act has led to; with every change a fifth of it."""
        self.acts += 1
        return self.found_by_axe() if is_due(self.acts) else []

    def found_by_axe(self) -> list[str]:
        """What axe-core finds wrong, over all of WCAG 2.2 A and AA and its best practices."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(self.axe)
        rules = {"runOnly": COLORS} if self.only_colors else {}
        found = self.page.evaluate(
            "rules => axe.run(document, { resultTypes: ['violations'], iframes: false, ...rules })"
            ".then(r => r.violations.map(v => `${v.id}: ${v.nodes[0].html}`))",
            rules,
        )
        assert isinstance(found, list)
        return found

    def fits(self) -> bool:
        """Nothing sticks out to the side, and no table of 1280 pixels has a column out of sight.

        Charts are drawn again in another width: on a busy machine some frames after it changed.
        """
        cut = (
            "document.documentElement.scrollWidth > innerWidth || [...document"
            ".querySelectorAll('.table .scroll, #findings .scroll')].some(one =>"
            " one.offsetParent && one.scrollWidth > one.clientWidth + 1)"
        )
        try:
            self.page.wait_for_function(f"() => !({cut})", timeout=_DRAWN_MS)
        except PlaywrightTimeout:
            return False
        return True

    def looks(self) -> Iterator[str]:
        """The page that is open, narrow and dark; deep, in each pair of width and scheme."""
        for width, scheme in LOOKS if DEEP else LOOKS[-1:]:
            self.resize(width)
            self.page.emulate_media(color_scheme=scheme)
            yield f"{width}px-{scheme}"
            if DEEP:
                self.only_colors = True
                self.page.emulate_media(color_scheme=OTHER[scheme])
                yield f"{width}px-{OTHER[scheme]}"
                self.only_colors = False

    def widths(self) -> Iterator[int]:
        """The page that is open, in the width that it was loaded in; deep, in both.

        Each change of the width lays out the whole page.
        """
        assert self.page.viewport_size
        now = self.page.viewport_size["width"]
        for width, _ in LOOKS:
            if DEEP or width == now:
                self.resize(width)
                yield width

    def turn(self, place: int) -> None:
        """Take the width of this day for the page at this place of a list: the other the next day."""
        self.resize(LOOKS[(place + DAY) % len(LOOKS)][0])

    def resize(self, width: int) -> None:
        """Make the window as wide as this."""
        self.page.set_viewport_size({"width": width, "height": 800})


@contextlib.contextmanager
def watched(
    browser: Browser, service: Service, axe: str, look: tuple[int, Scheme]
) -> Iterator[Visit]:
    """A page in this look, with axe-core; at its end it complained of nothing, asked no one else."""
    width, scheme = look
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        reduced_motion="reduce",  # colours that are on their way have no contrast to measure
    )
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    visit = Visit(page, service, axe)
    page.on("console", visit.noticed)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("request", visit.asked)
    yield visit
    context.close()
    assert visit.complaints == []
    assert visit.strangers == []


@pytest.fixture
def tour(browser: Browser, service: Service, axe: str) -> Iterator[Visit]:
    """A visit that looks at many pages, each in every look that is due."""
    with watched(browser, service, axe, LOOKS[0]) as visit:
        yield visit


@pytest.fixture(params=LOOKS if DEEP else LOOKS[-1:], ids=lambda p: f"{p[0]}px-{p[1]}")
def visit(
    request: pytest.FixtureRequest, browser: Browser, service: Service, axe: str
) -> Iterator[Visit]:
    """A visit that is made in the narrow look; deep, once more in the wide one."""
    with watched(browser, service, axe, request.param) as one:
        yield one
