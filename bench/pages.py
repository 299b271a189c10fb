"""First paint of every page against 200 ms, with the demonstration network and 30 days of it.

    python -m bench.pages [DAYS]

For each page: the service's time to the last byte (median of 9, keep-alive), and, where there is
a Chromium, the first contentful paint (median of 3, scripts and styles kept by the browser as on a
second visit). A page over the goal is marked. Figures are of a quiet machine, or of nothing.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from playwright.sync_api import BrowserContext, sync_playwright
from tools.demonstration import Demonstration, Page, demonstration
from tools.screenshots import signed_in

from mudra.runtime.demo_network import DEMO_PASSWORD

GOAL_MS = 200.0
ASKS, PAINTS = 9, 3
_PAINT = """new Promise(told => new PerformanceObserver(list => {
    const found = list.getEntriesByName('first-contentful-paint')[0];
    if (found) told(found.startTime);
}).observe({ type: 'paint', buffered: true }))"""


def main() -> int:
    """Measure and print; 1 when a page is over the goal."""
    days = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder, demonstration(Path(folder), days) as network:
        pages = network.pages()
        served = {page.name: server_ms(network, page) for page in pages}
        painted = paints_ms(network, pages)
    print(f"{'page':28}{'server ms':>10}{'paint ms':>10}   goal {GOAL_MS:.0f} ms")
    late = 0
    for name, (median, first) in served.items():
        paint = painted.get(name)
        over = max(median, paint or 0.0) > GOAL_MS
        late += over
        shown = f"{paint:10.0f}" if paint is not None else f"{'-':>10}"
        print(f"{name:28}{median:10.0f}{shown}   first look {first:.0f}{'   OVER' if over else ''}")
    slowest = max(max(median, painted.get(name, 0.0)) for name, (median, _) in served.items())
    print(f"{len(pages)} pages, {late} over; slowest ÷ goal: {slowest / GOAL_MS:.2f}")
    return 1 if late else 0


_clients: dict[str, httpx.Client] = {}


def server_ms(network: Demonstration, page: Page) -> tuple[float, float]:
    """Median of the service's time for a page, and that of the first look."""
    client = _clients.get(page.email) or _signed_in_client(network, page.email)
    found = []
    for _ in range(ASKS + 1):
        began = time.perf_counter()
        answer = client.get(page.path)
        found.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            raise RuntimeError(f"{page.path} answers {answer.status_code}")
    return statistics.median(found[1:]), found[0]


def _signed_in_client(network: Demonstration, email: str) -> httpx.Client:
    client = _clients[email] = httpx.Client(base_url=network.root, timeout=30)
    if email:
        form = {"username": email, "password": DEMO_PASSWORD, "to": ""}
        headers = {"Sec-Fetch-Site": "same-origin"}
        answer = client.post("/console/sign-in", data=form, headers=headers)
        if answer.status_code != 303:
            raise RuntimeError(f"{email} cannot sign in: {answer.status_code}")
    return client


def paints_ms(network: Demonstration, pages: list[Page]) -> Mapping[str, float]:
    """Median first contentful paint of each page; nothing without a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium on this machine: the service's time only")
        return {}
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for email in dict.fromkeys(page.email for page in pages):
            with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
                signed_in(context, network.root, email)
                for page in pages:
                    if page.email == email:
                        found[page.name] = _paint(context, network.root + page.path)
        browser.close()
    return found


def _paint(context: BrowserContext, url: str) -> float:
    tab = context.new_page()
    found = []
    for _ in range(PAINTS + 1):
        tab.goto(url, wait_until="load")
        found.append(float(tab.evaluate(_PAINT)))
    tab.close()
    return statistics.median(found[1:])


if __name__ == "__main__":
    sys.exit(main())
