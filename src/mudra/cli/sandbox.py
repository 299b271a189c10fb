"""mudra sandbox: bring the demonstration network to life."""

import random
import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final

import httpx
import msgspec
import typer
from rich.progress import track

from mudra.cli.output import Exit, console, fail
from mudra.metrics.catalogue import WINDOW, WINDOWS_PER_DAY, RequestType, window_start
from mudra.metrics.report import encode_report
from mudra.metrics.traffic import Traffic, Trouble
from mudra.runtime.config import Settings
from mudra.runtime.demo_network import DEMO_NETWORK, DEMO_PASSWORD

app = typer.Typer(no_args_is_help=True, help="Bring the demonstration network to life.")

_INCIDENT: Final = re.compile(
    r"(?P<fip>[A-Za-z0-9@._-]{1,64})(?::(?P<type>[a-z]+))?@(?P<start>\d{1,5})\+(?P<length>\d{1,5})"
)
_TYPES: Final = {str(code): code for code in RequestType}


@app.callback()
def sandbox() -> None:
    """Hold the sandbox's commands together."""


@app.command(epilog="Example: mudra sandbox traffic --days 2 --incident KAVERI-FIP:fif@1800+120")
def traffic(
    days: Annotated[float, typer.Option(min=0.01, max=60, help="Days to fill by time-lapse.")] = 1,
    incident: Annotated[
        list[str] | None,
        typer.Option(
            help="A FIP fails: FIP[:TYPE]@START+LENGTH, minutes from the beginning.",
            metavar="FIP[:TYPE]@START+LENGTH",
        ),
    ] = None,
    base_url: Annotated[str, typer.Option(help="Address of the token service.")] = "",
    load: Annotated[
        int, typer.Option(min=1, max=100000, help="FI requests of the busiest window.")
    ] = 300,
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.")] = 1,
) -> None:
    """Push realistic metrics of the demonstration AAs, moving the sandbox's time on."""
    issuer = base_url or Settings().issuer
    try:
        with httpx.Client(base_url=issuer, timeout=60) as client:
            lapse = _TimeLapse(client, issuer.rsplit("/", 1)[0], random.Random(seed))  # noqa: S311
            lapse.run(max(1, round(days * WINDOWS_PER_DAY)), incident or [], load)
    except httpx.TransportError as error:
        fail(f"{issuer} did not answer ({type(error).__name__})", Exit.UNREACHABLE)


@dataclass
class _TimeLapse:
    client: httpx.Client
    root: str
    dice: random.Random

    def run(self, windows: int, incidents: list[str], load: int) -> None:
        now = self._advance(0)
        begin = window_start(now) + WINDOW
        fips = [member.entity_id for member in DEMO_NETWORK if member.entity_type == "FIP"]
        traffic = Traffic(fips, load, [_trouble(words, begin, fips) for words in incidents])
        tokens = {m.entity_id: "" for m in DEMO_NETWORK if m.entity_type == "AA"}
        # To the first boundary, and a minute on: agents push soon after a window's end.
        self._advance(int((begin - now).total_seconds()) + 60)
        pushed = 0
        for place in track(range(windows), "time-lapse", console=console):
            window = begin + place * WINDOW
            self._advance(int(WINDOW.total_seconds()))
            for aa_id, token in tokens.items():
                for make in (traffic.requests, traffic.notifications):
                    txn_id = str(uuid.UUID(int=self.dice.getrandbits(128)))
                    body = encode_report(make(aa_id, window, txn_id, self.dice))
                    # The key is there already: the loop goes on undisturbed.
                    tokens[aa_id] = self._push(body, aa_id, tokens[aa_id] or token)
                    pushed += 1
        console.print(f"{pushed} payloads of {len(tokens)} AAs over {windows} windows pushed")

    def _push(self, body: bytes, aa_id: str, token: str) -> str:
        """Push with this token, or with a new one when it is refused; gives the one that worked."""
        for attempt in (token, None):
            used = attempt or self._token(aa_id)
            answer = self.client.post(
                f"{self.root}/metrics/perf/v1/push",
                content=body,
                headers={"Content-Type": "application/json", "Authorization": f"Bearer {used}"},
            )
            if answer.status_code != httpx.codes.UNAUTHORIZED:
                _expect_ok(answer)
                return used
        _expect_ok(answer)
        return used

    def _token(self, aa_id: str) -> str:
        admin = next(member.admin for member in DEMO_NETWORK if member.entity_id == aa_id)
        user = _expect_ok(
            self.client.post(
                "/v1/user/token/generate",
                data={"username": admin, "password": DEMO_PASSWORD},
            )
        )
        read = _expect_ok(
            self.client.post(
                "/v1/entity/secret/read",
                json={"entityId": aa_id},
                headers={"Authorization": f"Bearer {user['accessToken']}"},
            )
        )
        entity = _expect_ok(
            self.client.post(
                "/v1/entity/token/generate",
                data={"id": aa_id, "secret": str(read["secret"])},
            )
        )
        return str(entity["accessToken"])

    def _advance(self, seconds: int) -> datetime:
        answer = self.client.post(
            f"{self.root}/sandbox/v1/clock", json={"advance": f"PT{seconds}S"}
        )
        if answer.status_code == httpx.codes.NOT_FOUND:
            fail(f"{self.root} is no sandbox: start one with mudra serve --sandbox --demo")
        return datetime.fromisoformat(str(_expect_ok(answer)["now"]))


def _trouble(words: str, begin: datetime, fips: list[str]) -> Trouble:
    found = _INCIDENT.fullmatch(words)
    if found is None or found["fip"] not in fips or found["type"] not in {None, *_TYPES}:
        fail(
            "--incident must be FIP[:TYPE]@START+LENGTH in minutes, such as "
            f"KAVERI-FIP:fif@60+30; FIPs: {', '.join(fips)}; types: {', '.join(_TYPES)}",
            Exit.USAGE,
        )
    start = begin + timedelta(minutes=int(found["start"]))
    code = _TYPES[found["type"]] if found["type"] else None
    return Trouble(found["fip"], code, start, start + timedelta(minutes=int(found["length"])))


def _expect_ok(answer: httpx.Response) -> dict[str, object]:
    if answer.status_code != httpx.codes.OK:
        told = msgspec.json.decode(answer.content) if answer.content else {}
        fail(f"the service answered {answer.status_code}: {told.get('errorMsg', '')}")
    body = answer.json()
    assert isinstance(body, dict)
    return body
