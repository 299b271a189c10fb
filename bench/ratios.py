"""bench/ratios: every page and every reading call under 16 connections, against a page of one word.

    python -m bench.ratios [SECONDS]

The pages come from the console's own list (tools/demonstration.py), the calls from the document
that the service publishes: each GET, with the demonstration's names in its path. Each is asked for
SECONDS (1) by 16 connections, with 7 days of the network behind it, and the CPU of service and
database is counted. Printed is how many requests a CPU second does, and that as a part of what the
same service does of a page of one word (`/livez`) in between: 1 is as cheap as that.
"""

import os
import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

import httpx2
from tests.support.http_clients import NO_TLS
from tools.demonstration import ADMINS, OPERATOR, Demonstration, demonstration, user_token

from bench.sizes import SHORT, argument, exit_code, sized
from bench.support import cpu_of_tree, data_directory, postmaster, scratch
from mudra.demo.network import DEMO_PASSWORD

CONNECTIONS: Final = sized(16, 2)
WORD: Final = "/livez"
GOAL: Final = 0.2
AA, FIP, FIU = "SAARTHI-AA", "KAVERI-FIP", "FINSIGHT-FIU"
PLACES: Final = {"entity_id": FIP, "entity_type": "FIP", "aa_id": AA, "fip_id": FIP, "code": "cns"}
OF_ENTITIES: Final = ("/cr/", "/metrics/")
ENDLESS: Final = "/feed/events"


class Asked(NamedTuple):
    """One page or call: its name, its address, and the headers of who asks."""

    name: str
    path: str
    headers: dict[str, str]


class Counted(NamedTuple):
    """Requests of one page or call, the CPU seconds that they took, and what was answered."""

    requests: int
    cpu_s: float
    statuses: Counter[int]

    @property
    def a_cpu_second(self) -> float:
        """Requests that one CPU second does."""
        return self.requests / max(self.cpu_s, 0.01)  # ended children count in hundredths


class Load:
    """Asks a running demonstration, and counts what its processes take."""

    def __init__(self, network: Demonstration, data_dir: Path, seconds: float) -> None:
        self._root, self._seconds = network.root, seconds
        self._database = postmaster(data_dir)
        self._service = network.pid

    def count(self, asked: Asked) -> Counted:
        """Ask by all connections for some time."""
        statuses: Counter[int] = Counter()
        lock, ends = threading.Lock(), time.monotonic() + self._seconds
        before = self._cpu_s()

        def ask() -> None:
            own: Counter[int] = Counter()
            with httpx2.Client(base_url=self._root, timeout=60, verify=NO_TLS) as client:
                while not own or time.monotonic() < ends:
                    own[client.get(asked.path, headers=asked.headers).status_code] += 1
            with lock:
                statuses.update(own)

        threads = [threading.Thread(target=ask) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Counted(statuses.total(), self._cpu_s() - before, statuses)

    def _cpu_s(self) -> float:
        return sum(cpu_of_tree(pid) for pid in {self._service, self._database})


def pages(network: Demonstration) -> list[Asked]:
    """Every page, asked for as the demonstration's own people."""
    cookies = {email: signed_in(network.root, email) for email in (OPERATOR, *ADMINS.values())}
    return [
        Asked(page.name, page.path, {"Cookie": cookies[page.email]} if page.email else {})
        for page in network.pages()
    ]


def signed_in(root: str, email: str) -> str:
    """The cookie of a session."""
    form = {"username": email, "password": DEMO_PASSWORD, "to": ""}
    with httpx2.Client(base_url=root, timeout=60, verify=NO_TLS) as client:
        answer = client.post(
            "/console/sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text
        return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def calls(network: Demonstration) -> list[Asked]:
    """Each reading call of the published document."""
    root = network.root
    document = httpx2.get(f"{root}/schema/openapi.json", timeout=60).json()
    tokens = {email: bearer(user_token(root, email)) for email in (OPERATOR, *ADMINS.values())}
    of_aa = bearer(entity_token(root, tokens[ADMINS[AA]], AA))
    of_fiu = bearer(entity_token(root, tokens[ADMINS[FIU]], FIU))
    made = []
    for path, each in document["paths"].items():
        if "get" not in each or path.endswith(ENDLESS):
            continue
        place = re.sub(r"\{(\w+)\}", lambda at: PLACES.get(at[1], "unknown"), path)
        who = tokens[OPERATOR] if path.startswith("/operator/") else tokens[ADMINS[FIP]]
        if path.startswith(OF_ENTITIES):
            who = of_fiu if "followed" in path else of_aa
        query = f"?entityId={FIP}" if "/entity/" in path else ""
        made.append(Asked(f"GET {path}", place + query, who))
    return made


def bearer(token: str) -> dict[str, str]:
    """The header that shows a token."""
    return {"Authorization": f"Bearer {token}"}


def entity_token(root: str, admin: dict[str, str], entity_id: str) -> str:
    """A token of a member."""
    with httpx2.Client(base_url=root, timeout=60, verify=NO_TLS) as client:
        read = client.post(
            "/iam/v1/entity/secret/read", json={"entityId": entity_id}, headers=admin
        )
        form = {"id": entity_id, "secret": read.raise_for_status().json()["secret"]}
        answer = client.post("/iam/v1/entity/token/generate", data=form)
        return str(answer.raise_for_status().json()["accessToken"])


def main() -> int:
    """Measure and print, the dearest first; 1 when something was refused with 5xx."""
    seconds = argument(1, 1.0, 0.01)
    with scratch() as folder:
        data_dir = data_directory(folder)
        with demonstration(data_dir.parent, sized(7.0, 0.1), settled=not SHORT) as network:
            load, word = Load(network, data_dir, seconds), Asked("one word", WORD, {})
            found, failed, words = [], [], []
            everything = [*pages(network), *calls(network)]
            for place, asked in enumerate(everything[:: sized(1, 24)]):
                if place % 10 == 0:
                    words.append(load.count(word))
                counted = load.count(asked)
                found.append((counted.a_cpu_second, asked.name, counted))
                if any(status >= 500 for status in counted.statuses):
                    failed.append(asked.name)
            of_word = sum(one.requests for one in words) / sum(one.cpu_s for one in words)
            print(f"load {os.getloadavg()[0]:.1f}; one word: {of_word:.0f} a CPU second")
    for a_second, name, counted in sorted(found):
        statuses = ", ".join(str(one) for one in counted.statuses)
        print(f"{a_second / of_word:.3f} {a_second:7.0f} a CPU second  {name}  ({statuses})")
    below = sum(a_second / of_word < GOAL for a_second, _, _ in found)
    print(
        f"answered with 5xx: {failed}; below {GOAL} of a page of one word: {below} of {len(found)}"
    )
    return exit_code(met=not failed)


if __name__ == "__main__":
    raise SystemExit(main())
