"""Takes pictures of every page, and the pictures of the README: `make screenshots [INTO=folder]`.

Every page at 1280 and 390 pixels, light and dark, into the folder (.build/screenshots); the
README's into docs/images. Needs a Chromium (tools/programs.py). Data and service are
of the run's own.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from playwright.sync_api import Page as Tab

from mudra.demo.network import DEMO_PASSWORD
from tools.demonstration import Demonstration, Page, demonstration
from tools.programs import find, reason

IMAGES: Final = Path("docs/images")
INTO: Final = Path(".build/screenshots")
DAYS: Final = 30
WIDTHS: Final = (1280, 390)
_DRAWN_MS: Final = 30_000
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
IN_THE_README: Final = {
    "operator-health": ("health", 800),
    "sandbox": ("sandbox", 860),
    "status": ("status", 800),
}
"""Which page becomes which picture, and how high."""


def main() -> int:
    """Start a sandbox, photograph it, stop it."""
    chromium = find("chromium")
    if chromium is None:
        print(f"no Chromium on this machine: {reason('chromium')}", file=sys.stderr)
        return 1
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else INTO
    with (
        tempfile.TemporaryDirectory() as folder,
        demonstration(Path(folder), DAYS) as network,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        photograph(browser, network, into)
        browser.close()
    return 0


def photograph(browser: Browser, network: Demonstration, into: Path) -> None:
    """Save every page in every look."""
    into.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    pages = network.pages()
    for email in dict.fromkeys(page.email for page in pages):
        seen = [page for page in pages if page.email == email]
        with browser.new_context() as asked:
            signed_in(asked, network.root, email)
            cookies = asked.storage_state()
        with browser.new_context(storage_state=cookies, reduced_motion="reduce") as context:
            tab = context.new_page()
            for page in seen:
                one(tab, network.root, page, into)
        print(f"{len(seen)} pages seen by {email or 'everybody'}: {into}")


def signed_in(context: BrowserContext, root: str, email: str) -> None:
    """Sign a user in; no one by an empty address."""
    if not email:
        return
    page = context.new_page()
    page.goto(f"{root}/console/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "sign-in" not in url)


def _wait_for_charts(tab: Tab) -> None:
    """Return when all that comes after the words has come, and is drawn."""
    expect(tab.locator(".coming")).to_have_count(0, timeout=_DRAWN_MS)
    if tab.locator("#figures").count():
        charts = tab.locator(".chart")
        expect(tab.locator(".chart.drawn canvas")).to_have_count(charts.count(), timeout=_DRAWN_MS)
    tab.evaluate("document.fonts.ready.then(() => true)")


def one(tab: Tab, root: str, page: Page, into: Path) -> None:
    """Save one page whole in every look, and the README's cut of it."""
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            tab.emulate_media(color_scheme=scheme)
            tab.goto(root + page.path, wait_until="load")
            _wait_for_charts(tab)
            tab.screenshot(path=into / f"{page.name}-{width}-{scheme}.png", full_page=True)
    if page.name in IN_THE_README:
        name, height = IN_THE_README[page.name]
        tab.set_viewport_size({"width": 1280, "height": height})
        tab.emulate_media(color_scheme="light")
        tab.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
