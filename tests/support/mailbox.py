"""The development mailbox of a running service, and waiting for what comes into it."""

import json
import time
from collections.abc import Callable

from tests.support.service import Service

WAIT_S = 20.0


def mails(service: Service, to: str) -> list[dict]:
    """All mails to an address, oldest first."""
    return json.loads(service.cli("mail", "list", "--to", to, "--json").stdout)


def subjects(service: Service, to: str) -> list[str]:
    """Their subjects without the network's name."""
    return [mail["subject"].partition(": ")[2] for mail in mails(service, to)]


def eventually(question: Callable[[], object], wait_s: float = WAIT_S) -> object:
    """Ask until the answer is true; gives the last answer."""
    deadline = time.monotonic() + wait_s
    while True:
        answer = question()
        if answer or time.monotonic() > deadline:
            return answer
        time.sleep(0.1)
