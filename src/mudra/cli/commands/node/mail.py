"""mudra mail: the development mailbox and the outbox."""

from typing import Annotated

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.http.response.account_responses import mail_details
from mudra.http.response.sandbox_responses import mail_response
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.overview.mail_queue import NoSuchMail, QueuedMail, StoredEmail, retry_mail
from mudra.shared.time_text import iso_ms

app = typer.Typer(no_args_is_help=True)
_MAX_COUNT = 1000


@app.command("list", epilog="Example: mudra mail list --to lakshmi@kaveribank.example --json")
def list_mails(
    to: Annotated[str | None, typer.Option(help="Only emails to this address.")] = None,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Only those rejected by the mail server or waiting for over a day."
        ),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List emails, the oldest first. Anyone who can read the master key can read them."""
    if failed:
        _show_failed(data_dir, as_json=as_json)
        return
    address = normalize_email(to) if to else None
    wanted = to if isinstance(address, AddressRefused) else address

    async def run(dependencies: Dependencies) -> list[StoredEmail]:
        async with dependencies.unit_of_work() as work:
            return list(await work.mailbox.mails(to=wanted))

    mails = with_store(run, data_dir)
    if as_json:
        show_json([msgspec.to_builtins(mail_response(mail)) for mail in mails])
        return
    show_table(
        ["ID", "SENT", "TO", "SUBJECT"],
        [
            [m.mail_id, iso_ms(m.sent_at) if m.sent_at else "waiting", m.email.to, m.email.subject]
            for m in mails
        ],
    )


@app.command(epilog="Example: mudra mail show 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
def show(
    mail_id: Annotated[str, typer.Argument(help="ID of the email, as mudra mail list shows it.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show one email with its text and attachments."""

    async def run(dependencies: Dependencies) -> StoredEmail | None:
        async with dependencies.unit_of_work() as work:
            return await work.mailbox.mail(mail_id)

    mail = with_store(run, data_dir)
    if mail is None:
        fail(f"no mail has the ID {mail_id}")
    files = mail.email.attachments
    if as_json:
        attached = [
            {"name": one.name, "mediaType": one.media_type, "content": one.content} for one in files
        ]
        show_json({**msgspec.to_builtins(mail_response(mail)), "attachments": attached})
        return
    show_facts(
        {
            "to": mail.email.to,
            "subject": mail.email.subject,
            "sent": iso_ms(mail.sent_at) if mail.sent_at else "waiting",
            "attached": ", ".join(one.name for one in files) or "nothing",
        }
    )
    typer.echo(f"\n{mail.email.text}", nl=False)


@app.command(epilog="Example: mudra mail retry 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
def retry(
    mail_id: Annotated[str, typer.Argument(help="ID of the email, as mudra mail list shows it.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Try an unsent email again now."""

    async def run(dependencies: Dependencies) -> str | NoSuchMail:
        async with dependencies.unit_of_work() as work:
            caller = Caller(operator_name())
            return await retry_mail(mail_id, caller, work.mail_queue, work.audit_log)

    if isinstance(with_store(run, data_dir), NoSuchMail):
        fail(f"no unsent mail has the ID {mail_id}")
    facts = {"mail": mail_id, "result": "will be tried now"}
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)


def _show_failed(data_dir: DataDir, *, as_json: bool) -> None:
    async def run(dependencies: Dependencies) -> list[QueuedMail]:
        async with dependencies.unit_of_work() as work:
            return list(await work.mail_queue.queue(failed=True, limit=_MAX_COUNT))

    mails = with_store(run, data_dir)
    if as_json:
        show_json([msgspec.to_builtins(mail_details(mail)) for mail in mails])
        return
    show_table(
        ["ID", "SINCE", "TO", "SUBJECT", "ATTEMPTS", "LAST ERROR"],
        [
            [m.mail_id, iso_ms(m.created_at), m.recipient, m.subject, str(m.attempts), m.last_error]
            for m in mails
        ],
    )
