"""Two hundred connections that ask for tokens, sign in and read pages, until SECONDS are over.

Runs by Debian's own Python inside of the machine of `bench/systemd_units.py`; writes to
/run/crowd.txt how many answers of each status came.
"""

import http.client
import sys
import threading
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

CONNECTIONS = 200
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ASKED = (
    ("POST", "/iam/v1/entity/token/generate", "id=NOBODY-FIP&secret=wrong"),
    ("POST", "/iam/v1/user/token/generate", "username=a@network.example&password=wrong"),
    ("GET", "/readyz", None),
    ("GET", "/status", None),
    ("GET", "/console/sign-in", None),
)


def ask(number: int, until: float, said: "Counter[str]") -> None:
    """Ask one after the other over a kept connection, with another first each time."""
    asked = cycle(ASKED[number % len(ASKED) :] + ASKED[: number % len(ASKED)])
    connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
    while time.monotonic() < until:
        method, path, body = next(asked)
        try:
            connection.request(method, path, body, FORM)
            answer = connection.getresponse()
            answer.read()
            said[str(answer.status)] += 1
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            said[type(error).__name__] += 1


def main() -> None:
    """Ask from all connections at once."""
    until, said = time.monotonic() + float(sys.argv[1]), Counter[str]()
    threads = [
        threading.Thread(target=ask, args=(number, until, said)) for number in range(CONNECTIONS)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    text = ", ".join(f"{count} {status}" for status, count in said.most_common())
    Path("/run/crowd.txt").write_text(text)


if __name__ == "__main__":
    main()
