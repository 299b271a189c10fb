"""Faults that take hours or months, for `bench/alerts.py`, in a sandbox, whose clock can be moved.

What moves it furthest comes last, and what needs that no email was sent for a while comes first.
"""

import contextlib
import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
from aiosmtpd.controller import Controller
from tests.support.database.own_postgres import own_postgres
from tests.support.smtp_sink import SmtpSink

from bench.alert_faults import AnyScene, Fault, Other, Scene, receiver
from bench.lasting_faults import Lasting, started
from bench.support import free_port

_WEBHOOK_KEY: Final = "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
_NUMBERS: Final = itertools.count()


@contextlib.contextmanager
def _in_a_sandbox(folder: Path) -> Iterator[Lasting]:
    smtp, audit = free_port(), free_port()
    variables = {
        "MUDRA_SMTP_URL": f"smtp://127.0.0.1:{smtp}",
        "MUDRA_AUDIT_EXPORT": f"webhook+http://127.0.0.1:{audit}/audit",
        "MUDRA_AUDIT_EXPORT_SECRET": _WEBHOOK_KEY,
    }
    others: dict[str, Any] = {
        "mail": Other(partial(mail_server, smtp, SmtpSink())),
        "audit": Other(partial(receiver, audit)),
    }
    with (
        own_postgres(folder / "database") as url,
        others["mail"].listening(),
        others["audit"].listening(),
        started(folder, url, sandbox=True, variables=variables, **others) as place,
    ):
        yield place


@contextlib.contextmanager
def mail_server(port: int, sink: SmtpSink) -> Iterator[None]:
    """Let a sink listen at a port until the end of the block."""
    controller = Controller(sink, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield
    finally:
        controller.stop()


@contextlib.contextmanager
def _audit_is_unsealed(place: Lasting) -> Iterator[None]:
    """A transaction that stays open holds sealing back."""
    with psycopg.connect(place.url) as session:
        session.execute("SELECT pg_current_xact_id()")
        _invite(place)
        place.service.advance("PT20M")
        yield


@contextlib.contextmanager
def _export_is_away(place: Lasting) -> Iterator[None]:
    assert place.audit is not None
    with place.audit.away():
        _invite(place)
        place.service.wait_until(lambda: _sealed(place))
        place.service.advance("PT20M")
        yield


def _sealed(place: Lasting) -> bool:
    waits = "SELECT FROM audit_event WHERE seq NOT IN (SELECT seq FROM audit_seal)"
    with psycopg.connect(place.url) as connection:
        return not connection.execute(waits.encode()).rowcount


@contextlib.contextmanager
def _mail_is_away(place: Lasting, duration: str) -> Iterator[None]:
    assert place.mail is not None
    with place.mail.away():
        _invite(place)
        place.service.advance(duration)
        yield
    place.service.advance("PT1H")  # the pause after many attempts


@contextlib.contextmanager
def _secrets_end(place: Lasting) -> Iterator[None]:
    """Members do not reset theirs for 175 days; then they are suspended."""
    _invite(place)
    place.service.advance("P175D")
    yield
    for number in range(next(_NUMBERS)):
        place.service.cli("member", "suspend", f"BENCH-{number}", "--reason", "drill")
    place.service.advance("PT1S")


def _invite(place: Lasting) -> None:
    """Make an email to send, a secret that ends, and events of the audit."""
    entity_id = f"BENCH-{next(_NUMBERS)}"
    place.service.cli(
        *("member", "onboard", entity_id, "--type", "FIU", "--name", "Bench"),
        *("--admin", f"{entity_id.lower()}@bench.example"),
    )


SCENES: Final[dict[str, AnyScene]] = {
    "sandbox": Scene[Lasting](
        _in_a_sandbox,
        (
            Fault(
                ("MudraMailStuck",),
                "the mail server is away, the clock moved by 20 minutes",
                partial(_mail_is_away, duration="PT20M"),
            ),
            Fault(
                ("MudraMailFailing",),
                "the mail server is away, the clock moved by 61 minutes",
                partial(_mail_is_away, duration="PT61M"),
            ),
            Fault(
                ("MudraAuditExportStuck",),
                "the receiver of the audit is away, the clock moved by 20 minutes",
                _export_is_away,
            ),
            Fault(
                ("MudraAuditUnsealed",),
                "a transaction stays open, the clock moved by 20 minutes",
                _audit_is_unsealed,
            ),
            Fault(
                ("MudraEndsSoon",),
                "no member resets its secret, the clock moved by 175 days",
                _secrets_end,
            ),
        ),
    ),
}
