"""The eight tasks of the console's review by clicking, in a network of 500 untidy members.

    python -m bench.eight_tasks [WIDTH]

Prints the clicks of each task next to those of the review (../shared/reviews/console.md); typing
and the sign-in are not counted, a key that sends a form is; the review counted at 1280 px, so on a
phone the opening of the menu, or of a part of a long page, is allowed on top. Of each page on the
way: what axe-core finds (WCAG 2.2 A and AA and its best practices), how many kilobytes it and all
that it asks for are as they are sent, and its first paint. `KEEP=DIR` loads into that folder once;
the tasks change what is there. Ends with 1 where a task takes more clicks, a page breaks a rule,
or something sticks out.
"""

import json
import re
import sys
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import httpx2
from playwright.sync_api import Error, sync_playwright
from tests.support.mailbox import latest_link
from tests.support.people.operators import active_operator
from tests.support.process import running_service
from tests.support.registry.registry_payloads import fip
from tests.support.service import PASSWORD
from tools.programs import find

from bench.clicking import Hand
from bench.kept_load import loaded_once
from bench.sizes import argument, exit_code
from bench.support import data_directory
from bench.untidy_network import BROKEN, BROKEN_NAME, CHANGED_NAME, admin_of, load
from mudra.metrics.payload.catalogue import window_start

WIDTH: Final = int(argument(1, 1280, 390))
_NEWCOMER: Final = "NEWCOMER-FIP"
_ADMIN: Final = "nila@newcomer.example"
_MAILBOX: Final = "stranger@customer.example"
_PASSWORD: Final = "granite otter velvet lamp"
T = TypeVar("T")
P = ParamSpec("P")


def apart(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what needs an event loop of its own: Playwright's holds this thread."""
    with ThreadPoolExecutor(1) as one:
        return one.submit(act, *args, **kwargs).result()


class Tasks:
    """The tasks, each from the page where its reader is."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.operator = apart(active_operator, hand.service)
        self.auditor = apart(active_operator, hand.service, "audit")

    def from_mail_to_owner(self) -> None:
        """An operator opens the incident that an email names, reads its cause and takes it."""
        hand = self.hand
        hand.begin(self.operator, f"/console/operator/incidents/{self._incident()}")
        hand.clicks += 1  # on the link of the email
        assert hand.tab.locator("h1").first.inner_text().startswith(BROKEN_NAME)
        hand.click(hand.tab.get_by_role("button", name="Assign to me"))
        assert self.operator in hand.tab.locator(".who-owns").inner_text()

    def from_invitation_to_token(self) -> None:
        """A member is onboarded, registers, is approved, and its secret is shown to its admin."""
        hand = self.hand
        hand.begin(self.operator, "/console/operator/board")
        hand.menu("Members")
        hand.click(hand.tab.get_by_role("link", name="Onboard a member"))
        hand.tab.get_by_label("Entity ID").fill(_NEWCOMER)
        hand.tab.get_by_label("Type").select_option("FIP")
        hand.tab.get_by_label(re.compile("^Member.s name")).fill("नया बैंक <b>of</b> “Newcomers” 🏦")
        hand.tab.get_by_label("email address").fill(_ADMIN)
        hand.click(hand.tab.get_by_role("button", name="Onboard and invite"))
        hand.confirm()
        hand.clicks += 1  # on the link of the email
        hand.begin("", apart(latest_link, hand.service, _ADMIN))
        hand.tab.get_by_label("New password").fill(_PASSWORD)
        hand.click(hand.tab.get_by_role("button", name="Set password"))
        hand.tab.wait_for_url(lambda url: "/console/entity/" in url)
        hand.look()
        self._register()
        hand.begin(self.operator, "/console/operator/board")
        hand.menu("Approvals")
        listed = hand.tab.locator("#main tbody tr").filter(has_text=_NEWCOMER)
        hand.click(listed.get_by_role("link"))
        self._approve()
        hand.begin(_ADMIN, f"/console/entity/{_NEWCOMER}", _PASSWORD)
        hand.menu("Secret")
        hand.click(hand.tab.get_by_role("button", name="Show the secret"))
        secret = hand.tab.locator("#secret-text").inner_text()
        asked = httpx2.post(
            f"{hand.service.issuer}/v1/entity/token/generate",
            data={"id": _NEWCOMER, "secret": secret},
            timeout=60,
        )
        assert asked.status_code == 200, asked.text

    def _register(self) -> None:
        hand = self.hand
        hand.click(hand.tab.get_by_role("link", name="Register"))
        made = fip(7, id=_NEWCOMER) | {"txnid": str(uuid.uuid4())}
        made["requester"]["id"] = _NEWCOMER
        tab = hand.tab
        hand.click(tab.get_by_text("As JSON"))
        tab.get_by_label("Payload").fill(json.dumps(made))
        tab.locator("#verdict.good").wait_for()
        hand.click(tab.get_by_role("button", name="Submit"))

    def _approve(self) -> None:
        hand = self.hand
        why = hand.tab.get_by_label("Reason for the audit").first
        if why.is_visible():  # the probe failed: no such bank exists
            why.fill("Seen on the telephone")
        hand.click(hand.tab.get_by_role("button", name="Approve version"))
        hand.confirm()
        assert hand.tab.locator("main .done").is_visible()

    def approve_a_change(self) -> None:
        """An operator approves the change that the board shows."""
        hand = self.hand
        hand.begin(self.operator, "/console/operator/board")
        hand.click(hand.tab.locator("a.what").filter(has_text=CHANGED_NAME))
        self._approve()

    def rotate_with_grace(self) -> None:
        """An admin resets the secret; the old one works for seven days more."""
        hand = self.hand
        hand.begin(admin_of(BROKEN), f"/console/entity/{BROKEN}")
        hand.menu("Secret")
        hand.click(hand.tab.get_by_role("button", name="Reset the secret…"))
        grace = hand.tab.get_by_label("Keep the old secret working for")
        assert grace.input_value() == "7"
        hand.click(hand.tab.get_by_role("button", name="Reset it"))
        hand.confirm()
        assert hand.tab.get_by_role("heading", name="Old secret").is_visible()

    def see_why_it_is_bad(self) -> None:
        """An admin sees on the overview that FI fetch is bad, and why."""
        hand = self.hand
        hand.begin(admin_of(BROKEN), f"/console/entity/{BROKEN}")
        hand.click(hand.tab.locator(".attention li a").filter(has_text="FI fetch"))
        assert hand.tab.get_by_text("FI fetch").first.is_visible()

    def follow_a_fip(self) -> None:
        """A FIU follows one FIP of 300, found by its name."""
        hand = self.hand
        hand.begin(admin_of("FIU-000"), "/console/entity/FIU-000")
        hand.menu("Health")
        hand.part("FIPs you follow")
        hand.tab.get_by_label("Search FIPs").fill(BROKEN_NAME)
        listed = hand.tab.locator("#fips li:visible")
        hand.click(listed.get_by_role("button", name="Follow"))
        assert hand.tab.get_by_role("button", name="Unfollow").count() == 1

    def subscribe_to_a_bank(self) -> None:
        """A customer finds a bank among 300 on the public status, and subscribes to it."""
        hand = self.hand
        hand.begin("", "/status")
        hand.tab.get_by_role("searchbox", name="Find an institution").fill("kaveri")
        hand.press_enter()
        hand.click(hand.tab.locator(".institution h3 a"))
        hand.tab.get_by_label("Your email address").fill(_MAILBOX)
        hand.click(hand.tab.get_by_role("button", name="Subscribe"))
        hand.clicks += 1  # on the link of the email
        hand.begin("", apart(latest_link, hand.service, _MAILBOX))
        hand.click(hand.tab.get_by_role("button", name="Confirm the subscription"))

    def who_saw_a_secret(self) -> None:
        """An auditor finds who read the secret of one member."""
        hand = self.hand
        hand.begin(self.auditor, "/console/operator/audit")
        hand.click(hand.tab.get_by_text("More filters"))
        hand.tab.get_by_label("Event may end in *").fill("entity:secret:read")
        hand.tab.get_by_label("Member name or ID").fill(_NEWCOMER)
        hand.press_enter()
        assert _ADMIN in hand.tab.locator("#events tbody tr:not(.day)").first.inner_text()

    def _incident(self) -> str:
        service = self.hand.service
        url = f"{service.issuer}/v1/user/token/generate"
        signed = httpx2.post(
            url, data={"username": self.operator, "password": PASSWORD}, timeout=60
        ).json()
        headers = {"Authorization": f"Bearer {signed['accessToken']}"}
        url = f"{service.root}/operator/v1/incidents"
        listed = httpx2.get(url, headers=headers, timeout=60).json()["incidents"]
        found = [one for one in listed if BROKEN in str(one)]
        assert found, listed
        return str(found[0]["incidentId"])


def tasks(hand: Hand) -> Sequence[tuple[str, int, Callable[[], None]]]:
    """Each task, with the clicks that the review of 28 November counted."""
    of = Tasks(hand)
    return [
        ("1 mail to cause to owner", 2, of.from_mail_to_owner),
        ("2 new member to first token", 14, of.from_invitation_to_token),
        ("3 approve a change", 2, of.approve_a_change),
        ("4 rotate with 7 days of grace", 4, of.rotate_with_grace),
        ("5 why is FI fetch bad", 1, of.see_why_it_is_bad),
        ("6 FIU follows a FIP", 2, of.follow_a_fip),
        ("7 find a bank, subscribe", 5, of.subscribe_to_a_bank),
        ("8 who saw this secret", 2, of.who_saw_a_secret),
    ]


def played(hand: Hand) -> bool:
    """Play and print; gives whether no task takes more clicks, and no page breaks a rule."""
    met = True
    print(f"{'task':32}clicks  review")
    for name, before, act in tasks(hand):
        hand.clicks, hand.opened, remark = 0, 0, ""
        try:
            act()
        except (AssertionError, Error) as why:
            remark = f"   NOT DONE: {type(why).__name__} {why}"
        remark = remark or ("   MORE" if hand.clicks - hand.opened > before else "")
        met = met and not remark
        print(f"{name:32}{hand.clicks:6}{before:8}{remark}", flush=True)
    for path, measured in hand.seen.items():
        print(f"{measured}  {path}")
    for fault in hand.faults:
        print(f"FAULT {fault}")
    print(f"pages {len(hand.seen)}, faults {len(hand.faults)}")
    return met and not hand.faults


def main() -> int:
    """Load, play, print; 1 when a goal is missed."""
    chromium, axe = find("chromium"), find("axe-core")
    if chromium is None or axe is None:
        print("needs a Chromium and axe-core: make programs", file=sys.stderr)
        return 1
    with loaded_once(load, window_start(datetime.now(UTC))) as (folder, _):
        data_dir = data_directory(str(folder))
        with running_service(data_dir, keeps_store=True) as service, sync_playwright() as player:
            browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            hand = Hand(browser, service, Path(axe).read_text(), WIDTH)
            met = played(hand)
            browser.close()
    print(f"every goal of the eight tasks met at {WIDTH} px: {met}")
    return exit_code(met=met)


if __name__ == "__main__":
    sys.exit(main())
