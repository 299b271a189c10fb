"""Emails through a real SMTP server, good, broken and lying."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest
from tests.support.smtp_sink import Certificate, make_certificate, smtp_sink

from mudra.mail.mail_server import mail_server
from mudra.mail.server_check import mail_server_fault
from mudra.mail.smtp import deliver
from mudra.overview.mail_delivery import Delivered, Undelivered
from mudra.shared.mail.email_message import Email
from mudra.shared.secret_text import SecretText

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH:UserWarning")

EMAIL = Email("asha@bank.example", "Demo: héllo", "Hello Asha,\n\n.\n\nline\n", "<p>Hello</p>")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOGIN = "user:p%40ss%3Aword%2F1@"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def hand_over(url: str, outgoing: Email = EMAIL, within_s: float = 60) -> Delivered | Undelivered:
    server = mail_server(SecretText(url), "mudra@network.example", "Demo Network")
    return asyncio.run(
        deliver(server, outgoing, mail_id="mail-1", written_at=NOON, within_s=within_s)
    )


def test_a_email_arrives_whole():
    with smtp_sink() as sink:
        outcome = hand_over(f"smtp://127.0.0.1:{sink.port}")

    assert outcome == Delivered()
    (mail,) = sink.received
    message = BytesParser(policy=default).parsebytes(mail.content)
    assert mail.sender == "mudra@network.example"
    assert mail.recipients == ["asha@bank.example"]
    assert message["Subject"] == "Demo: héllo"
    # The lone dot neither ends the email nor is lost.
    text = message.get_body(("plain",)).get_content()
    assert text.splitlines() == ["Hello Asha,", "", ".", "", "line"]


def test_a_second_copy_has_the_same_message_id():
    """F6: mail servers fail."""
    with smtp_sink() as sink:
        hand_over(f"smtp://127.0.0.1:{sink.port}")
        hand_over(f"smtp://127.0.0.1:{sink.port}")

    ids = {BytesParser(policy=default).parsebytes(m.content)["Message-ID"] for m in sink.received}
    assert ids == {"<mail-1@network.example>"}


def test_starttls_with_user_and_password(certificate: Certificate):
    with smtp_sink(start_tls=certificate, login=True) as sink:
        url = f"smtp://{LOGIN}localhost:{sink.port}?starttls=always&ca={certificate.cert}"
        outcome = hand_over(url)

    assert outcome == Delivered()
    assert sink.logins == [(b"user", b"p@ss:word/1", True)]
    assert [mail.over_tls for mail in sink.received] == [True]


def test_tls_from_the_first_byte(certificate: Certificate):
    with smtp_sink(implicit_tls=certificate) as sink:
        outcome = hand_over(f"smtps://127.0.0.1:{sink.port}?ca={certificate.cert}")

    assert outcome == Delivered()
    assert len(sink.received) == 1


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_certificate_that_no_one_vouches_for_is_refused_and_tried_again(
    scheme: str, certificate: Certificate
):
    kind = "implicit_tls" if scheme == "smtps" else "start_tls"
    with smtp_sink(login=True, **{kind: certificate}) as sink:
        options = "" if scheme == "smtps" else "?starttls=always"
        outcome = hand_over(f"{scheme}://{LOGIN}127.0.0.1:{sink.port}{options}")

    assert isinstance(outcome, Undelivered)
    assert outcome.again
    assert "certificate" in outcome.problem.lower()
    assert sink.logins == []
    assert sink.received == []


def test_a_server_that_hides_starttls_gets_neither_password_nor_email():
    with smtp_sink(login=True) as sink:
        outcome = hand_over(f"smtp://{LOGIN}127.0.0.1:{sink.port}?starttls=always")

    assert isinstance(outcome, Undelivered)
    assert outcome.again
    assert sink.logins == []
    assert sink.received == []


def test_a_wrong_password_of_ours_does_not_lose_the_email():
    with smtp_sink(login=True) as sink:
        outcome = hand_over(f"smtp://user:topsecret@127.0.0.1:{sink.port}")

    assert isinstance(outcome, Undelivered)
    assert outcome.again
    assert "535" in outcome.problem
    assert "topsecret" not in outcome.problem


@pytest.mark.parametrize(
    ("where", "answer", "again"),
    [
        ("rcpt_answer", "550 5.1.1 no such user", False),
        ("rcpt_answer", "450 4.2.1 mailbox busy", True),
        ("data_answer", "554 5.7.1 refused", False),
        ("data_answer", "451 4.3.0 try later", True),
    ],
)
def test_what_the_server_says_for_good_is_final_and_the_rest_is_tried_again(
    where: str, answer: str, again: bool
):
    """F6: mail servers fail."""
    with smtp_sink() as sink:
        setattr(sink, where, answer)
        outcome = hand_over(f"smtp://127.0.0.1:{sink.port}")

    assert isinstance(outcome, Undelivered)
    assert outcome.again is again
    assert answer[:3] in outcome.problem
    assert answer[4:] in outcome.problem


def test_a_server_that_is_away_is_tried_again():
    """F6: mail servers fail."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        outcome = hand_over(f"smtp://127.0.0.1:{held.getsockname()[1]}")

    assert isinstance(outcome, Undelivered)
    assert outcome.again


@contextmanager
def talking(first_words: bytes) -> Iterator[int]:
    """Listen, say these words to anyone who comes, and then keep silent."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        guests: list[socket.socket] = []

        def serve() -> None:
            try:
                guest, _ = listening.accept()
            except OSError:
                return
            guests.append(guest)
            guest.sendall(first_words)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for guest in guests:
            guest.close()


@pytest.mark.parametrize(
    "words", [b"", b"220 hi", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 99]
)
def test_a_server_that_hangs_or_babbles_ends_by_the_time_limit(words: bytes):
    """F6: mail servers fail."""
    with talking(words) as port:
        outcome = hand_over(f"smtp://127.0.0.1:{port}", within_s=0.3)

    assert isinstance(outcome, Undelivered)
    assert outcome.again
    assert outcome.problem.isprintable()
    assert len(outcome.problem) <= 200


def test_a_email_that_cannot_be_sent_is_final_and_says_why(tmp_path: Path):
    outgoing = Email("asha@bank.example, eve@evil.example", "s", "t", "<p>h</p>")

    with smtp_sink() as sink:
        outcome = hand_over(f"smtp://127.0.0.1:{sink.port}", outgoing)

    assert outcome == Undelivered(
        again=False, problem="the email cannot be sent: to must be one plain email address"
    )
    assert sink.received == []


def fault_of(url: str, within_s: float = 60) -> str:
    return asyncio.run(
        mail_server_fault(SecretText(url), "mudra@network.example", "Demo Network", within_s)
    )


def test_a_server_is_checked_without_an_email(certificate: Certificate):
    with smtp_sink(start_tls=certificate, login=True) as sink:
        url = f"smtp://{LOGIN}localhost:{sink.port}?starttls=always&ca={certificate.cert}"
        fault = fault_of(url)

    assert fault == ""
    assert sink.logins == [(b"user", b"p@ss:word/1", True)]
    assert sink.received == []


@pytest.mark.parametrize(
    ("kind", "url", "said", "way_out"),
    [
        ("start_tls", "smtp://localhost:{port}?starttls=always", "is not trusted", "?ca=FILE"),
        ("implicit_tls", "smtps://localhost:{port}", "is not trusted", "?ca=FILE"),
        ("start_tls", "smtps://localhost:{port}?ca={cert}", "begins no TLS", "smtps:// 465"),
        ("start_tls", "smtp://localhost:{port}", "refuses the sender (530", "starttls=always"),
        ("start_tls", "smtp://x.invalid:{port}?ca={cert}", "is not known", "DNS"),
        ("start_tls", "smtps://localhost:{port}?ca={cert}x", "No such file", "the service reads"),
    ],
)
def test_a_server_that_takes_no_emails_is_named_with_the_way_out(
    kind: str, url: str, said: str, way_out: str, certificate: Certificate
):
    with smtp_sink(**{kind: certificate}) as sink:
        fault = fault_of(url.format(port=sink.port, cert=certificate.cert))

    assert said in fault
    assert way_out in fault
    assert sink.received == []


def test_a_server_that_says_nothing_is_given_up_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fault = fault_of(f"smtp://127.0.0.1:{silent.getsockname()[1]}", within_s=0.2)

    assert "does not answer in time" in fault
