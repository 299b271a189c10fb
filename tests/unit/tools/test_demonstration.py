"""The list of pages, by which pictures, figures and browser tests come to every page."""

import re
import shlex
import subprocess
from pathlib import Path

from litestar.handlers import HTTPRouteHandler
from tools.demonstration import member_pages, operator_pages, public_pages

from mudra.console.pages.public.status.status_pages import public_status_pages
from mudra.console.routes import console_pages
from mudra.http.server.given import Given

NO_PAGES = {
    "/console",  # goes on to the first page that one has
    "/console/{rest:path}",  # says that there is none
    "/console/sign-in/code",  # of a sign-in that waits for it: tests/browser/test_second_factor.py
    "/console/sign-in/sso",  # goes on to the provider
    "/console/sign-in/sso/callback",  # comes from it
    "/console/operator/entry",  # goes on to an entry
    # Files of a dispute, downloaded: tests/http/account/test_disputes.py
    "/console/operator/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}",
    "/console/entity/{entity_id:str}/disputes/{dispute_id:uuid}/evidence/{evidence_id:uuid}",
    "/console/operator/bulk",  # goes on to the list in which members are chosen
    # Of a link that an email alone has: tests/http/console/test_status_subscription.py
    "/status/subscription/{token:str}",
    "/status/channel/{link:str}",
    "/status/card.png",
    "/status/fip/{fip_id:str}/card.png",
    "/status/network.json",
    "/status/levels.json",
    "/status/schema.json",
    "/status/feed.atom",
    "/status/feed.rss",
    "/status/badge.svg",
    "/status/fip/{fip_id:str}/feed.atom",
    "/status/fip/{fip_id:str}/feed.rss",
    "/status/fip/{fip_id:str}/badge.svg",
    "/status/network.csv",
}


def shown() -> set[str]:
    """The addresses that show a page."""
    routers = [console_pages(Given()), public_status_pages(Given(), Given())]
    return {
        route.path
        for router in routers
        for route in router.routes
        for handler in getattr(route, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler) and "GET" in handler.http_methods
    } - NO_PAGES


SOME_ID = "0b6d0c2e-6c0e-4a76-9d7b-0f6a3a8b7c11"


def test_every_page_is_in_the_list() -> None:
    pages = [
        *public_pages("A-FIP", levels=True),
        *member_pages("A-FIP", "a@b.example", SOME_ID, SOME_ID, SOME_ID),
        *operator_pages("a@b.example", "AN-AA", "A-FIP", *[SOME_ID] * 5),
    ]
    paths = [page.path.partition("?")[0] for page in pages]
    missing = {
        template
        for template in shown()
        if not any(re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path) for path in paths)
    }

    assert missing == set()
    assert len({page.name for page in pages}) == len(pages)


def test_make_takes_the_pictures_by_a_command_that_runs(tmp_path: Path) -> None:
    """As far as the search for a browser, which is not on this path."""
    asked = ["make", "--dry-run", "screenshots", f"INTO={tmp_path}"]
    lines = subprocess.run(asked, text=True, capture_output=True, check=True).stdout.splitlines()
    words = next(shlex.split(line) for line in reversed(lines) if "screenshots" in line)
    run = subprocess.run(
        words, text=True, capture_output=True, check=False, env={"PATH": str(tmp_path)}
    )

    assert run.stderr.startswith("no Chromium on this machine"), run.stderr
    assert words[-1] == str(tmp_path)
