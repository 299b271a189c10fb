"""Quality I8, 2.4: 40 payloads in every field that reaches a mail.

Each is refused, or the message that goes out has exactly one recipient and the
constant set of headers, as two parsers and the server read it.
"""

import asyncio
import functools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.header import decode_header, make_header
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest
from tests.support.depth import part
from tests.support.people.operators import new_operator
from tests.support.process import running_service
from tests.support.smtp_sink import SmtpSink, smtp_sink
from tests.support.until import until

from mudra.identity.accounts.email_address import display_name, normalize_email
from mudra.mail.compose import EmailComposer
from mudra.mail.facts import FACTS, EmailFactsError
from mudra.mail.mail_server import MailUrlError, mail_server
from mudra.mail.smtp import deliver, message_of
from mudra.overview.mail_delivery import Undelivered
from mudra.shared.mail.email_message import Email
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText

EVIL = "eve@evil.example"
BREAKS = ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PAYLOADS = [
    *(f"Asha{br}Bcc: {EVIL}" for br in BREAKS),
    f"\r\nBcc: {EVIL}",
    f"Asha\r\n\r\nBcc: {EVIL}\r\n\r\n<script>",
    f"Asha\r\n Bcc: {EVIL}",
    f"Asha\r\n\tBcc: {EVIL}",
    f"Asha\n\r\nBcc: {EVIL}",
    f"Asha\x00\r\nBcc: {EVIL}",
    f"Asha\x00Bcc: {EVIL}",
    f"=?utf-8?q?hi=0ABcc=3A_{EVIL}?=",
    f"=?utf-8?q?hi=0D=0ABcc=3A_{EVIL}?=",
    "=?utf-8?b?aGkKQmNjOiBldmVAZXZpbC5leGFtcGxl?=",
    f"=?UTF-8?Q?hi=0ABcc:{EVIL}?= =?utf-8?q?x?=",
    f"Asha =?utf-8?q?=0ABcc=3A_{EVIL}?= Rao",
    f"=?utf-7?q?hi+AAo-Bcc: {EVIL}?=",
    f"Asha%0ABcc:%20{EVIL}",
    f"Asha%0D%0ABcc:%20{EVIL}",
    f"Asha\\r\\nBcc: {EVIL}",
    f"Asha, {EVIL}",
    f"Asha; {EVIL}",
    f"{EVIL}, asha@bank.example",
    f"asha@bank.example, {EVIL}",
    f"asha@bank.example\r\nRCPT TO:<{EVIL}>",
    f"<{EVIL}>",
    f"Asha <{EVIL}>",
    f'"Asha" <{EVIL}>, "',
    f"group: {EVIL};",
    f"asha@bank.example>\r\nRCPT TO:<{EVIL}",
    f"Asha\r\n.\r\nMAIL FROM:<{EVIL}>\r\nRCPT TO:<{EVIL}>\r\nDATA\r\n",
    f"Asha\n.\nQUIT\nBcc: {EVIL}",
    f"Asha\ud83d\udc7f\ud800Bcc: {EVIL}",
    f"Asha\u202eBcc: {EVIL}",
    f"{'x' * 990} Bcc: {EVIL}",
    f"{'é' * 300}\r\nBcc: {EVIL}",
    'Asha"\r\nContent-Type: multipart/mixed; boundary="evil',
    "Asha\r\nSubject: pay here\r\nX: =?",
]
HEADERS = {
    *("from", "to", "subject", "date", "message-id", "auto-submitted"),
    *("mime-version", "content-type"),
}
_BOUNDARY = re.compile(rb'boundary="=+\d+=="')
"""Differs in every message."""
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIMES = {"reset_at", "expires_at", "old_secret_ends_at", "written_at", "ends_at"} | {
    *("last_used_at", "last_failure_at")
}
FIELDS = sorted({(kind, name) for kind, names in FACTS.items() for name in names})


@pytest.fixture(scope="module")
def sink() -> Iterator[SmtpSink]:
    with smtp_sink() as running:
        yield running


@pytest.fixture(scope="module")
def writer() -> EmailComposer:
    return EmailComposer("Demo Network")


def send_for_real(sink: SmtpSink, message: Email) -> bool:
    """Hand the email over; True when it arrived, and then it is whole and to one reader only."""
    sink.received.clear()
    server = mail_server(SecretText(f"smtp://127.0.0.1:{sink.port}"), "mudra@network.example")
    outcome = asyncio.run(deliver(server, message, mail_id="mail-1", written_at=NOON))
    if isinstance(outcome, Undelivered):
        assert not outcome.again, outcome.problem
        assert sink.received == []
        return False
    (mail,) = sink.received
    assert mail.recipients == ["asha@bank.example"]
    assert_plain(mail.content)
    return True


def assert_plain(raw: bytes, reader: str = "asha@bank.example") -> None:
    """The raw lines and two parsers see the constant headers and one reader."""
    head = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    _assert_plain_head(_BOUNDARY.sub(b'boundary="="', head), reader)


@functools.cache
def _assert_plain_head(head: bytes, reader: str) -> None:
    """Most payloads change the body alone: each head is read once."""
    names = [
        line.partition(b":")[0].decode().lower() for line in head.split(b"\n") if line[:1].strip()
    ]
    old, new = message_from_bytes(head), BytesParser(policy=default).parsebytes(head)
    for seen in (names, [k.lower() for k in old], [k.lower() for k in new]):
        assert set(seen) == HEADERS
        assert len(seen) == len(HEADERS)
    assert old["To"] == new["To"] == reader
    for header in HEADERS:
        shown = str(make_header(decode_header(old[header])))
        assert "\n" not in shown.replace("\n ", " ")
        assert new[header].defects == ()


def test_there_are_forty_payloads():
    assert len(set(PAYLOADS)) >= 40


@pytest.mark.deeper
@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_no_fact_of_a_email_can_add_a_header_or_a_reader(
    writer: EmailComposer, kind: NoticeKind, field: str
):
    for payload in part(PAYLOADS, FIELDS.index((kind, field))):
        facts = {n: "2026-03-01T12:00:00Z" if n in TIMES else "1" for n in FACTS[kind]}
        facts[field] = payload
        try:
            message = writer.compose(Notice("asha@bank.example", kind, facts))
        except ValueError:  # EmailFactsError, or no time where a time must be
            continue
        try:
            raw = message_of(message, "mudra@network.example", "1", NOON).as_bytes()
        except EmailFactsError:
            continue
        assert_plain(raw)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_that_onboarding_accepts_can_add_a_header_or_a_reader(
    payload: str, writer: EmailComposer, sink: SmtpSink
):
    name = display_name(payload)
    if not isinstance(name, str):
        return
    message = writer.compose(
        Notice(
            "asha@bank.example",
            NoticeKind.INVITATION,
            {
                "user_name": name,
                "entity_name": name,
                "link": "https://x.example/1",
                "valid_hours": "1",
            },
        )
    )

    assert send_for_real(sink, message)


@pytest.mark.parametrize("field", ["to", "subject", "text", "html"])
def test_no_field_of_a_email_can_add_a_header_or_a_reader(field: str, sink: SmtpSink):
    good = {"to": "asha@bank.example", "subject": "s", "text": "t\n", "html": "<p>h</p>"}
    arrived = 0
    for payload in PAYLOADS:
        arrived += send_for_real(sink, Email(**(good | {field: payload})))

    assert (arrived == 0) == (field == "to")


def test_the_network_and_its_sender_cannot_add_a_header_either():
    for payload in PAYLOADS:
        with pytest.raises(MailUrlError):
            mail_server(SecretText("smtp://127.0.0.1"), payload)
        try:
            server = mail_server(SecretText("smtp://127.0.0.1"), "m@n.example", payload)
        except MailUrlError:
            continue
        message = Email("asha@bank.example", "s", "t", "<p>h</p>")
        assert_plain(message_of(message, server.sender, "1", NOON, server.sender_name).as_bytes())


def test_no_mail_id_can_add_a_header():
    message = Email("asha@bank.example", "s", "t", "<p>h</p>")
    for payload in PAYLOADS:
        with pytest.raises(EmailFactsError):
            message_of(message, "m@n.example", payload, NOON)


def test_no_payload_is_an_address():
    for payload in PAYLOADS:
        assert normalize_email(payload) != "asha@bank.example"
        assert not isinstance(normalize_email(payload), str)


@pytest.mark.slow
def test_a_service_writes_to_one_reader_whatever_an_operator_sends(tmp_path: Path):
    """I8: every field of an onboarding that reaches an email, over HTTP to a real mail server."""
    with (
        smtp_sink() as outside,
        running_service(
            tmp_path / "data", keeps_store=True, MUDRA_SMTP_URL=f"smtp://127.0.0.1:{outside.port}"
        ) as service,
    ):
        operator, taken = new_operator(service, "members"), 0
        for n, payload in enumerate(PAYLOADS):
            for field in ("name", "adminName", "adminEmail"):
                order = {"entityId": f"I8-{field}-{n}", "type": "FIP", "name": "Kaveri Bank"}
                order |= {"adminEmail": f"{field}{n}@bank.example".lower(), field: payload}
                answer = operator.client.post(
                    f"{service.root}/operator/v1/members",
                    content=json.dumps(order),  # as \\u-escapes: some of it is no UTF-8
                    headers={**operator.headers, "Content-Type": "application/json"},
                )
                assert answer.status_code in {200, 400}, answer.text
                assert field != "adminEmail" or answer.status_code == 400, payload
                taken += answer.status_code == 200
        until(lambda: len(outside.received) == taken + 1)  # and the operator's own
        emails = list(outside.received)

    assert taken >= 10
    assert len(emails) == taken + 1
    for message in emails:
        (reader,) = message.recipients
        assert reader.endswith(("@bank.example", "@network.example"))
        assert_plain(message.content, reader)
