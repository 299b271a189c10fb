"""The jobs of the outbox: one sends what is due, one raises the alarms of what is not sent."""

from datetime import timedelta
from math import nan

from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.notification_jobs import deliver_mail, raise_mail_alarms
from mudra.jobs.scheduler import Job
from mudra.jobs.telemetry import MAIL_OLDEST_WAITING, MAILS, MAILS_FAILING
from mudra.mail.mail_server import mail_server
from mudra.mail.smtp import deliver
from mudra.overview.mail_delivery import Delivered, Undelivered
from mudra.shared.mail.email_message import StoredEmail
from mudra.storage.mail.outbox import OUTBOX_CHANGED


def mail_jobs(dependencies: Dependencies) -> list[Job]:
    """Return both jobs.

    The alarms are apart: a run that sends to a server that drops packets takes 20 s for each
    email, and with enough of them never ends.
    """
    delivered: set[str] = set()

    async def note_alarms() -> None:
        found = await raise_mail_alarms(dependencies.transaction)
        MAILS_FAILING.set(found.failing)
        MAIL_OLDEST_WAITING.set(found.oldest_s)

    def forget_alarms() -> None:
        MAILS_FAILING.set(nan)
        MAIL_OLDEST_WAITING.set(nan)

    return [
        Job(
            name="mail",
            every=timedelta(minutes=1),
            run=lambda: _send(dependencies, delivered),
            wake_on=OUTBOX_CHANGED,
            follows_clock=True,
        ),
        Job(
            name="mail-alarms",
            every=timedelta(minutes=1),
            run=note_alarms,
            follows_clock=True,
            forget=forget_alarms,
        ),
    ]


async def _send(dependencies: Dependencies, delivered: set[str]) -> None:
    url = dependencies.settings.smtp_url
    if url is None:
        return
    server = mail_server(url, dependencies.settings.mail_from, dependencies.settings.network_name)

    async def send(mail: StoredEmail) -> Delivered | Undelivered:
        return await deliver(server, mail.email, mail_id=mail.mail_id, written_at=mail.created_at)

    def count(outcome: str) -> None:
        MAILS.labels(outcome).inc()

    await deliver_mail(dependencies.transaction, send, count, delivered)
