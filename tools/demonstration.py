"""The demonstration network with a past and something to do, and every page that shows it.

For pictures (`tools.screenshots`) and figures (`bench.pages`): both look at the same.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
import psycopg
from bench.support import RunningService, mudra

from mudra.console.framework.navigation import (
    ACCOUNT,
    CONSOLE,
    MEMBER_ITEMS,
    OPERATOR_ITEMS,
    SECOND_FACTOR,
    member_path,
    operator_path,
)
from mudra.demo.network import DEMO_PASSWORD
from mudra.storage.database.embedded.server import embedded_server

OPERATOR: Final = "vikram@network.example"
NEWCOMER: Final = (
    "GODAVARI-FIP", "--type", "FIP", "--name", "Godavari Bank",
    "--admin", "nila@godavaribank.example", "--admin-name", "Nila Menon",
)  # fmt: skip
MOVED: Final = ("KAVERI-FIP", "lakshmi@kaveribank.example", "FIP")
"""The member whose entry waits for approval with another address."""
ADMINS: Final = {
    "FINSIGHT-FIU": "asha@finsight.example",
    "KAVERI-FIP": "lakshmi@kaveribank.example",
    "SAARTHI-AA": "meera@saarthi-aa.example",
}
_DAY_MINUTES: Final = 24 * 60
_SUMS_S: Final = 900
_STALE: Final = (
    "SELECT count(*) FROM metrics_stale"
    " WHERE grain <> 'window' AND at < date_trunc('day', now(), 'UTC')"
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page: a name for its files, its path, and as whom it is seen (empty: by everybody)."""

    name: str
    path: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A running one. `link` is an invitation that no one has used; `pid` is its supervisor."""

    root: str
    link: str
    pid: int
    announcement_id: str

    def pages(self) -> list[Page]:
        """Every page, with the addresses that this network gives them."""
        return [
            *public_pages(),
            Page("activation", self.link.removeprefix(self.root)),
            *operator_pages(
                OPERATOR, "SAARTHI-AA", "KAVERI-FIP", self._incident(), self.announcement_id
            ),
            *(
                page
                for entity_id, email in ADMINS.items()
                for page in member_pages(entity_id, email)
            ),
        ]

    def _incident(self) -> str:
        headers = {"Authorization": f"Bearer {user_token(self.root, OPERATOR)}"}
        url = f"{self.root}/operator/v1/incidents"
        found = httpx2.get(url, headers=headers, timeout=30).raise_for_status().json()["incidents"]
        return str(found[0]["incidentId"])


def public_pages(fip_id: str = "KAVERI-FIP", *, levels: bool = False) -> list[Page]:
    """The pages that need no sign-in, without the pages behind the link of an email.

    With that of service levels, which an operator has to publish.
    """
    return [
        Page("sandbox", "/"),
        Page("status", "/status"),
        Page("status-fip", f"/status/fip/{fip_id}"),
        *([Page("status-levels", "/status/levels")] if levels else []),
        Page("sign-in", f"{CONSOLE}/sign-in"),
        Page("forgot-password", f"{CONSOLE}/forgot-password"),
    ]


def member_pages(
    entity_id: str, email: str, incident_id: str = "", dispute_id: str = "", report_id: str = ""
) -> list[Page]:
    """The pages of an entity as its admin sees them; those of an empty ID are left out.

    With a report comes the league table, which an operator has to show.
    """
    kind = entity_id.rsplit("-", 1)[-1].lower()
    words = {
        item.word or "overview": item.word
        for item in MEMBER_ITEMS
        if not item.types or kind.upper() in item.types
    }
    if incident_id:
        words["incident"] = f"health/incidents/{incident_id}"
    if dispute_id:
        words["dispute"] = f"disputes/{dispute_id}"
    if report_id:
        words["level-report"] = f"levels/{report_id}"
        words["level-league"] = "levels/league"
    return [
        Page(f"{kind}-{name}", member_path(entity_id, word), email) for name, word in words.items()
    ]


def operator_pages(  # noqa: PLR0913, PLR0917  # an ID for each kind of page
    email: str,
    aa_id: str,
    fip_id: str,
    incident_id: str,
    announcement_id: str = "",
    dispute_id: str = "",
    report_id: str = "",
    mail_id: str = "",
) -> list[Page]:
    """The pages of an operator who has every scope; those of an empty ID are left out.

    `mail_id` is an email to this operator, seen as an email of the service and as a notification.
    """
    deeper = {
        "member": f"members/{fip_id}",
        "onboard": "onboard",
        "import": "import",
        "search": "search?q=bank",
        "approval": f"approvals/{fip_id}",
        "health-fip": f"health/fip/{fip_id}",
        "health-fip-30-days": f"health/fip/{fip_id}?range=30d",
        "health-aa": f"health/aa/{aa_id}",
        "health-pair": f"health/pair/{aa_id}/{fip_id}",
        "health-api": "health/api/fif",
        "funnel-fip": f"funnel/fip/{fip_id}",
        "funnel-aa": f"funnel/aa/{aa_id}",
        "funnel-pair": f"funnel/pair/{aa_id}/{fip_id}",
    }
    of_one = {
        "incidents": incident_id,
        "announcements": announcement_id,
        "disputes": dispute_id,
        "mails": mail_id,
    }
    deeper |= {word[:-1]: f"{word}/{one}" for word, one in of_one.items() if one}
    deeper["level-league"] = "levels/league"
    if report_id:
        deeper["level-report"] = f"levels/{report_id}"
    words = {item.word: item.word for item in OPERATOR_ITEMS} | deeper
    of_mail = [Page("notification", f"{ACCOUNT}/notifications/{mail_id}", email)] if mail_id else []
    return [
        *of_mail,
        *(Page(f"operator-{name}", operator_path(word), email) for name, word in words.items()),
        Page("account", ACCOUNT, email),
        Page("second-factor", SECOND_FACTOR, email),
        Page("own-webhook", f"{ACCOUNT}/webhooks", email),
        Page("notifications", f"{ACCOUNT}/notifications", email),
    ]


def user_token(root: str, email: str) -> str:
    """Sign in one of the demonstration's people over the API."""
    url, form = f"{root}/iam/v1/user/token/generate", {"username": email, "password": DEMO_PASSWORD}
    answer = httpx2.post(url, data=form, timeout=30).raise_for_status()
    return str(answer.json()["accessToken"])


@contextlib.contextmanager
def demonstration(folder: Path, days: float, *, settled: bool = True) -> Iterator[Demonstration]:
    """Start a sandbox with days of past, two incidents, a newcomer, and a change to approve.

    Unless `settled`, the sums of the past, which the jobs make after minutes, are not waited for.
    """
    data_dir = folder / "data"
    where = ["--data-dir", str(data_dir)]
    # Without agents: the past is filled here, and nothing runs next to what is measured.
    with RunningService(data_dir, "--sandbox", "--demo", "--no-traffic") as service:
        root = f"http://127.0.0.1:{service.port}"
        last = round(days * _DAY_MINUTES)
        begin = max(last - 400, 20)
        troubles = [
            f"KAVERI-FIP:fif@{begin}+{min(380, last - begin - 20)}",
            f"DECCAN-FIP@{max(last - 4000, 60)}+90",
        ]  # older than the watch looks back: reported by the fill
        incidents = [word for one in troubles for word in ("--incident", one)]
        mudra("sandbox", "traffic", "--days", str(days), *incidents, "--json", *where)
        if settled:
            _wait_for_sums(data_dir)
        mudra("member", "onboard", *NEWCOMER, *where)
        link = json.loads(mudra("mail", "list", "--json", *where))[-1]["links"][0]
        _move_an_address(root)
        _wait_for_status(root)
        yield Demonstration(root, link, service.pid, _announce(root))


def _wait_for_sums(data_dir: Path) -> None:
    """Return when the jobs have made the sums of all days that are over, as on any usual day."""
    deadline = time.monotonic() + _SUMS_S
    with embedded_server(data_dir) as url, psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(_STALE).fetchone() != (0,):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the sums of the past are not made after {_SUMS_S} s")
            time.sleep(0.5)


def _wait_for_status(root: str) -> None:
    """Return when the public status has its first picture: it is made behind who looks."""
    deadline = time.monotonic() + _SUMS_S
    while "No data yet" in httpx2.get(f"{root}/status", timeout=30).text:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the status is not made after {_SUMS_S} s")
        time.sleep(0.5)


def _announce(root: str) -> str:
    """Publish two announcements, and return the ID of one that can be changed."""
    bearer = {"Authorization": f"Bearer {user_token(root, OPERATOR)}"}
    url = f"{root}/operator/v1/announcements"
    of_network = {
        "title": "New consents are slower than usual",
        "text": "Customers may wait up to a minute for the page of their bank.",
    }
    of_bank = {
        "kind": "maintenance",
        "title": "Kaveri Bank replaces its gateway on Sunday",
        "text": "Between 02:00 and 04:00 IST no data can be fetched. Consents stay as they are.",
        "translations": [
            {
                "language": "hi",
                "title": "कावेरी बैंक रविवार को अपना गेटवे बदलेगा",
                "text": "02:00 से 04:00 IST तक डेटा नहीं लिया जा सकेगा। सहमतियाँ वैसी ही रहेंगी।",
            }
        ],
        "fipIds": ["KAVERI-FIP"],
    }
    for said in (of_network, of_bank):
        made = httpx2.post(url, json=said, headers=bearer, timeout=30).raise_for_status().json()
    return str(made["announcement"]["announcementId"])


def _move_an_address(root: str) -> None:
    """Submit a change of an entry that needs the operator's approval."""
    entity_id, email, kind = MOVED
    bearer = {"Authorization": f"Bearer {user_token(root, email)}"}
    read = httpx2.post(
        f"{root}/iam/v1/entity/secret/read",
        json={"entityId": entity_id}, headers=bearer, timeout=30,
    ).raise_for_status()  # fmt: skip
    form = {"id": entity_id, "secret": read.json()["secret"]}
    token = httpx2.post(f"{root}/iam/v1/entity/token/generate", data=form, timeout=30)
    own = {"Authorization": f"Bearer {token.json()['accessToken']}"}
    url = f"{root}/cr/v2/entityInfo/{kind}/{entity_id}"
    entry = httpx2.get(url, headers=own, timeout=30).raise_for_status().json()
    entry["entityinfo"]["baseurl"] = "v2:https://aa.kaveribank.example/v2"
    httpx2.put(url, json=entry, headers=bearer, timeout=30).raise_for_status()
