"""Emails of a running service through a real mail server: STARTTLS, refusals, a kill."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from tests.support.members import onboard, set_password
from tests.support.people.operators import Operator
from tests.support.process import running_service
from tests.support.processes import forked_by
from tests.support.service import PASSWORD, Service
from tests.support.smtp_sink import Received, SmtpSink, make_certificate, smtp_sink
from tests.support.until import PATIENCE_S, until

from mudra.bootstrap.dependencies import Dependencies
from mudra.shared.mail.email_message import links_in
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.tables.service import mail_outbox

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH:UserWarning")


def emails(sink: SmtpSink, to: str) -> list[Received]:
    return [mail for mail in list(sink.received) if mail.recipients == [to]]


def text_of(mail: Received) -> str:
    message = BytesParser(policy=default).parsebytes(mail.content)
    return message.get_body(("plain",)).get_content()


def reminders(sink: SmtpSink, to: str) -> list[Received]:
    return [mail for mail in emails(sink, to) if b"expires in 30 days" in mail.content]


def queue(service: Service, to: str) -> list[dict]:
    """What waits for an address or was given up."""
    failed = json.loads(service.cli("mail", "list", "--failed", "--json").stdout)
    return [mail for mail in failed if mail["to"] == to]


@pytest.fixture(scope="module")
def sink() -> Iterator[SmtpSink]:
    """A mail server; each test leaves it as it was, taking everything."""
    with smtp_sink() as running:
        yield running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, sink: SmtpSink) -> Iterator[Service]:
    """A service that sends by it; each test leaves the queue empty."""
    data_dir, url = tmp_path_factory.mktemp("sending") / "data", f"smtp://127.0.0.1:{sink.port}"
    with running_service(data_dir, keeps_store=True, MUDRA_SMTP_URL=url) as running:
        yield running


OWN_INVITATION = """{{ network }}: welcome aboard
Namaste {{ user_name }},

{{ entity_name }} joins us.

{{ link }}

Ask {{ contact }}.
"""
OWN_HTML = """<html><body class="ours">{% for paragraph in paragraphs %}
<p>{{ paragraph.text }}</p>{% endfor %}</body></html>"""


def test_a_service_sends_by_starttls_in_the_operators_words_and_the_link_in_the_email_works(
    tmp_path: Path,
):
    """F6: mail servers fail."""
    own = tmp_path / "letters"
    own.mkdir()
    (own / "invitation.txt.j2").write_text(OWN_INVITATION)
    (own / "letter.html.j2").write_text(OWN_HTML)
    certificate = make_certificate(tmp_path)
    with smtp_sink(start_tls=certificate, login=True) as sink:
        url = (
            f"smtp://user:p%40ss%3Aword%2F1@localhost:{sink.port}"
            f"?starttls=always&ca={certificate.cert}"
        )
        variables = {
            "MUDRA_SMTP_URL": url,
            "MUDRA_NETWORK_NAME": "Demo Network",
            "MUDRA_MAIL_TEMPLATES": str(own),
            "MUDRA_CONTACT": "help@network.example",
        }
        with running_service(tmp_path / "data", **variables) as service:
            _, email = onboard(service, name="Kaveri & Sons")
            until(lambda: emails(sink, email))
            (mail,) = emails(sink, email)
            answer = set_password(service.client(), links_in(text_of(mail))[0])

    assert mail.over_tls
    assert answer.status_code == 200
    message = BytesParser(policy=default).parsebytes(mail.content)
    assert message["Subject"] == "Demo Network: welcome aboard"
    assert text_of(mail).splitlines()[:3] == ["Namaste Asha Rao,", "", "Kaveri & Sons joins us."]
    assert "Ask help@network.example." in text_of(mail)
    html = message.get_body(("html",)).get_content()
    assert '<body class="ours">' in html
    assert "<p>Kaveri &amp; Sons joins us.</p>" in html


def test_a_refused_email_is_listed_alarmed_and_sent_on_retry(service: Service, sink: SmtpSink):
    """F6: mail servers fail."""
    sink.rcpt_answer = "550 5.1.1 no such user"
    _, email = onboard(service)
    until(lambda: queue(service, email))
    (failed,) = queue(service, email)
    service.advance("PT1M")

    def alarms() -> list[str]:
        lines = (service.data_dir / "mudra.log").read_text().splitlines()
        return [one for one in lines if "mail cannot be delivered" in one and failed["id"] in one]

    until(alarms)
    sink.rcpt_answer = ""
    service.cli("mail", "retry", failed["id"])
    until(lambda: emails(sink, email))
    until(lambda: not queue(service, email))

    assert failed["state"] == "given-up"
    assert "no such user" in failed["lastError"]
    assert len(alarms()) == 1
    assert len(emails(sink, email)) == 1
    assert queue(service, email) == []


def test_a_email_that_waits_for_over_a_day_is_an_alarm_and_still_goes_out(
    service: Service, sink: SmtpSink
):
    """F6: mail servers fail."""
    sink.rcpt_answer = "450 4.2.1 try later"
    _, email = onboard(service)
    early = queue(service, email)
    service.advance("P1DT1M")
    until(lambda: queue(service, email))
    (failed,) = queue(service, email)
    sink.rcpt_answer = ""
    service.advance("PT2H")
    until(lambda: emails(sink, email))

    assert early == []
    assert failed["state"] == "waiting"
    assert failed["attempts"] >= 1
    assert len(emails(sink, email)) == 1


@pytest.mark.slow
def test_a_mail_server_that_answers_nothing_holds_up_no_alarm(tmp_path: Path):
    """F6: each attempt takes 20 s, so a run that sends many emails takes as long as it likes."""
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"smtp://127.0.0.1:{silent.getsockname()[1]}"
    log = tmp_path / "data" / "mudra.log"
    with running_service(tmp_path / "data", MUDRA_SMTP_URL=url) as service, silent:
        onboard(service)
        onboard(service)
        service.advance("P1DT1M")
        until(lambda: log.read_text().count("mail cannot be delivered") == 2)

    assert log.read_text().count("mail cannot be delivered") == 2
    assert "mail not delivered" not in log.read_text().partition("mail cannot be delivered")[0]


@pytest.mark.slow
def test_a_kill_loses_no_email_and_a_day_without_a_service_no_reminder(tmp_path: Path):
    """F6, S9: killed between change and email; then down on the day of a reminder."""
    with smtp_sink() as sink:
        sink.rcpt_answer = "450 4.2.1 try later"
        url = f"smtp://127.0.0.1:{sink.port}"
        with running_service(tmp_path / "data", MUDRA_SMTP_URL=url) as service:
            _, email = onboard(service)
            service.process.send_signal(signal.SIGKILL)
            service.process.wait(PATIENCE_S)
        sink.rcpt_answer = ""
        service.in_store(
            lambda dependencies: dependencies.time_machine.advance(timedelta(days=150, minutes=1)),
        )
        with running_service(tmp_path / "data", MUDRA_SMTP_URL=url) as service:
            until(lambda: len(reminders(sink, email)) == 1)
            service.advance("P10D")
            last = onboard(service)[1]
            until(lambda: emails(sink, last))
            reminded = reminders(sink, email)
            sent = [mail for mail in emails(sink, email) if mail not in reminded]

    assert len(reminded) == 1
    calendar = BytesParser(policy=default).parsebytes(reminded[0].content)
    (file,) = calendar.iter_attachments()
    assert (file.get_filename(), file.get_content_type()) == ("secret-expiry.ics", "text/calendar")
    assert 1 <= len(sent) <= 2
    ids = {BytesParser(policy=default).parsebytes(mail.content)["Message-ID"] for mail in sent}
    assert len(ids) == 1


async def expire_claims(dependencies: Dependencies) -> None:
    """Claims last two minutes by the database's own clock, which the sandbox does not move."""
    async with dependencies.database.transaction() as transaction:
        taken = mail_outbox.c.taken_until
        await transaction.connection.execute(
            sa.update(mail_outbox).values(taken_until=taken - timedelta(minutes=3))
        )


@pytest.mark.slow
def test_a_kill_between_the_servers_yes_and_our_mark_sends_twice_at_most(tmp_path: Path):
    """F6: the mail server has the email, and the one who sent it dies before noting so."""
    with smtp_sink() as sink:
        url = f"smtp://127.0.0.1:{sink.port}"
        with running_service(tmp_path / "data", MUDRA_SMTP_URL=url) as service:
            sender = forked_by(service.process.pid)["jobs"]

            def kill_the_sender() -> None:
                sink.once_taken = bool
                os.kill(sender, signal.SIGKILL)

            sink.once_taken = kill_the_sender
            _, email = onboard(service)
            until(lambda: emails(sink, email))
            until(lambda: forked_by(service.process.pid).get("jobs", sender) != sender)
            before = len(emails(sink, email))
            service.in_store(expire_claims)
            service.advance("PT10M")
            until(lambda: len(emails(sink, email)) == 2)
            service.advance("P1D")
            (mail,) = json.loads(service.cli("mail", "list", "--to", email, "--json").stdout)
            sent = emails(sink, email)

    assert before == 1
    assert mail["sentAt"]
    assert len(sent) == 2
    ids = {BytesParser(policy=default).parsebytes(one.content)["Message-ID"] for one in sent}
    assert len(ids) == 1  # so that the reader's program shows one


def test_an_email_that_was_sent_while_the_database_failed_is_not_sent_again(
    service: Service, sink: SmtpSink
):
    """F6: the mail server has the email, and the one who sent it cannot note so, and lives."""
    with held_outbox(service) as outbox:

        def hold_it() -> None:
            sink.once_taken = bool
            outbox.hold()

        sink.once_taken = hold_it
        _, email = onboard(service)
        until(lambda: '"job": "mail"' in waits(service))
        outbox.free()
    service.in_store(expire_claims)
    service.advance("PT10M")
    until(lambda: sent_at(service, email))
    service.advance("P1D")
    last = onboard(service)[1]
    until(lambda: emails(sink, last))

    assert sent_at(service, email)
    assert len(emails(sink, email)) == 1


@dataclass
class HeldOutbox:
    """The table of emails, which a session of its own keeps from all others."""

    session: psycopg.Connection

    def hold(self) -> None:
        self.session.execute("LOCK TABLE mail_outbox IN SHARE ROW EXCLUSIVE MODE")

    def free(self) -> None:
        self.session.rollback()


@contextlib.contextmanager
def held_outbox(service: Service) -> Iterator[HeldOutbox]:
    with embedded_server(service.data_dir) as conninfo, psycopg.connect(conninfo) as session:
        yield HeldOutbox(session)


def waits(service: Service) -> str:
    """What the log says of jobs that the database kept from their work."""
    lines = (service.data_dir / "mudra.log").read_text().splitlines()
    return "\n".join(line for line in lines if "job waits" in line)


def sent_at(service: Service, email: str) -> str | None:
    (mail,) = json.loads(service.cli("mail", "list", "--to", email, "--json").stdout)
    return mail["sentAt"]


def test_an_operator_sees_the_queue_without_the_text(service: Service, sink: SmtpSink):
    operator = signed_in_operator(service, sink)
    sink.rcpt_answer = "550 5.1.1 no such user"
    _, email = onboard(service)
    until(lambda: operator.get("/mails", failed="true").json()["mails"])
    (failed,) = operator.get("/mails", failed="true").json()["mails"]
    page = operator.get("/mails", limit="1").json()
    rest = operator.get("/mails", limit="5", after=page["next"]).json()
    hers = operator.get("/mails", to=email.upper()).json()["mails"]
    sink.rcpt_answer = ""
    retried = operator.post(f"/mails/{failed['id']}/retry")
    unknown = operator.post("/mails/7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d/retry")

    assert failed["to"] == email
    assert "activate" not in str(failed)
    assert [mail["to"] for mail in page["mails"]] == [email]
    assert rest["mails"][0]["to"] == operator.email
    assert [mail["to"] for mail in hers] == [email]
    assert retried.status_code == 200
    assert unknown.status_code == 404


def signed_in_operator(service: Service, sink: SmtpSink) -> Operator:
    email = "noc@network.example"
    service.cli("operator", "create", email, "--scope", "members")
    until(lambda: emails(sink, email))
    client = service.client()
    set_password(client, links_in(text_of(emails(sink, email)[0]))[0])
    answer = client.post("/v1/user/token/generate", data={"username": email, "password": PASSWORD})
    headers = {"Authorization": f"Bearer {answer.json()['accessToken']}"}
    return Operator(email, client, headers, service.root)


def test_a_broken_template_stops_the_start_with_a_sentence(tmp_path: Path):
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "secret_reset.txt.j2").write_text("Hello {{ unknown_fact }}\n")

    with (
        pytest.raises(AssertionError, match="secret_reset"),
        running_service(tmp_path / "data", MUDRA_MAIL_TEMPLATES=str(templates)),
    ):
        pass
