"""The development mailbox of a running service, and waiting for what comes into it."""

import time
from collections.abc import Callable

from tests.support.service import Service, mails

WAIT_S = 20.0


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
