"""First paint of every page against 200 ms, with the demonstration network and 30 days of it.

    python -m bench.pages [DAYS]

For each page: the service's time to the last byte (median of 9, keep-alive), and, where there is
a Chromium, the first contentful paint (median of 5, scripts and styles kept by the browser as on a
second visit) of a browser at rest: the page before has drawn its charts. Next to it is how much
later that is than the paint of a page of one word, which the same browser is shown in between: that
much is the browser's own, and a machine that is busy or slow shows in both. The first paint of a
page in parts (decision 0067) is its title and menu; its figures are there after the last byte. A
page over the goal is marked. Figures are of a quiet machine, or of nothing: the load is printed.
"""

import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

import httpx2
from tools.demonstration import Demonstration, Page, demonstration
from tools.programs import find

from bench.machine import slowness, speed_note
from bench.sizes import SHORT, argument, exit_code, sized
from bench.support import data_directory, scratch
from mudra.demo.network import DEMO_PASSWORD

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext
    from playwright.sync_api import Page as Tab

GOAL_MS = 200.0
ASKS, PAINTS = sized((9, 5), (1, 1))
_PAINT = """new Promise(resolve => new PerformanceObserver(list => {
    const found = list.getEntriesByName('first-contentful-paint')[0];
    if (found) resolve(found.startTime);
}).observe({ type: 'paint', buffered: true }))"""
_WORD = b"<!doctype html><title>word</title><p>word</p>"


class Paint(NamedTuple):
    """Milliseconds to the first contentful paint: of a page, and of one word next to it."""

    page: float
    word: float


def main() -> int:
    """Measure and print; 1 when a page is over the goal."""
    days = argument(1, 30, 0.1)
    with (
        scratch() as folder,
        demonstration(data_directory(folder).parent, days, settled=not SHORT) as network,
    ):
        pages = sized(network.pages(), network.pages()[::16])
        load, slow = [os.getloadavg()[0]], slowness()
        served = {page.name: server_ms(network, page) for page in pages}
        painted = paints_ms(network, pages)
        load.append(os.getloadavg()[0])
    print(
        f"{'page':28}{'server':>8}{'paint':>8}{'word':>8}{'later by':>10}   ms, goal {GOAL_MS:.0f}"
    )
    worst = []
    for name, (median, first) in served.items():
        paint = painted.get(name)
        worst.append(max(median, paint.page if paint else 0.0))
        over = worst[-1] > GOAL_MS
        shown = (
            f"{paint.page:8.0f}{paint.word:8.0f}{paint.page - paint.word:10.0f}" if paint else ""
        )
        print(f"{name:28}{median:8.0f}{shown}   first look {first:.0f}{'   OVER' if over else ''}")
    words = [one.word for one in painted.values()] or [0.0]
    slowest, late = max(worst), sum(ms > GOAL_MS for ms in worst)
    late_there = sum(ms / slow > GOAL_MS for ms in worst)
    print(speed_note(slow))
    print(
        f"{len(pages)} pages, {late} over, {late_there} at that machine's"
        f" speed; slowest ÷ goal: {slowest / GOAL_MS:.2f},"
        f" {slowest / slow / GOAL_MS:.2f} at that speed; one word alone"
        f" {statistics.median(words):.0f} ms; load {load[0]:.1f} to {load[1]:.1f}"
        f" on {os.cpu_count()} cores"
    )
    return exit_code(met=not late)


_clients: dict[str, httpx2.Client] = {}


def server_ms(network: Demonstration, page: Page) -> tuple[float, float]:
    """Returns the median of the service's time for a page, and the time of the first look."""
    client = _clients.get(page.email) or _signed_in_client(network, page.email)
    found = []
    for _ in range(ASKS + 1):
        began = time.perf_counter()
        answer = client.get(page.path)
        found.append((time.perf_counter() - began) * 1000)
        if answer.status_code != 200:
            raise RuntimeError(f"{page.path} answers {answer.status_code}")
    return statistics.median(found[1:]), found[0]


def _signed_in_client(network: Demonstration, email: str) -> httpx2.Client:
    client = _clients[email] = httpx2.Client(base_url=network.root, timeout=30)
    if email:
        form = {"username": email, "password": DEMO_PASSWORD, "to": ""}
        headers = {"Sec-Fetch-Site": "same-origin"}
        answer = client.post("/console/sign-in", data=form, headers=headers)
        if answer.status_code != 303:
            raise RuntimeError(f"{email} cannot sign in: {answer.status_code}")
    return client


def paints_ms(network: Demonstration, pages: list[Page]) -> Mapping[str, Paint]:
    """Median first contentful paint of each page; nothing without a Chromium."""
    if SHORT:
        return {}
    # A third of a second of CPU, which a run of the smallest size spares.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415
    from tools.screenshots import signed_in  # noqa: PLC0415

    chromium = find("chromium")
    if chromium is None:
        print("no Chromium: the service's time only")
        return {}
    found = {}
    with one_word() as word, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for email in dict.fromkeys(page.email for page in pages):
            with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
                signed_in(context, network.root, email)
                for page in pages:
                    if page.email == email:
                        found[page.name] = _paint(context, network.root + page.path, word)
        browser.close()
    return found


@contextmanager
def one_word() -> Iterator[str]:
    """A server whose only page is one word; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OneWord)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class _OneWord(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(_WORD)))
        self.end_headers()
        self.wfile.write(_WORD)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as the base has it
        """Say nothing."""


def _paint(context: "BrowserContext", url: str, word: str) -> Paint:
    tab = context.new_page()
    found = [(_first_paint(tab, url), _first_paint(tab, word)) for _ in range(PAINTS + 1)]
    tab.close()
    pages, words = zip(*found[1:], strict=True)  # the first fetches scripts and styles
    return Paint(statistics.median(pages), statistics.median(words))


def _first_paint(tab: "Tab", url: str) -> float:
    tab.goto(url, wait_until="load")
    painted = float(tab.evaluate(_PAINT))
    tab.wait_for_load_state("networkidle")  # what comes after the words is there too
    return painted


if __name__ == "__main__":
    sys.exit(main())
