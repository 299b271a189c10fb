"""mudra mail: the development mailbox and the outbox."""

from typing import Annotated

import msgspec
import typer

from mudra.cli.client.api import Api, in_path
from mudra.cli.command import as_owner, owner_command
from mudra.cli.local.program import CommandFailed, Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.cli.output.shown import Shown, facts, table
from mudra.http.response.sandbox_responses import mail_response
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.shared.mail.email_message import StoredEmail
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
    from mudra.storage.mail.outbox import Outbox  # noqa: PLC0415  # loads the database

    if failed:
        as_owner(_failed, data_dir).write(as_json=as_json)
        return
    address = normalize_email(to) if to else None
    wanted = to if isinstance(address, AddressRefused) else address

    async def run(dependencies: Dependencies) -> list[StoredEmail]:
        async with dependencies.transaction() as tx:
            return list(await tx.service(Outbox).mails(to=wanted))

    mails = program().in_store(run, data_dir)
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
    from mudra.storage.mail.outbox import Outbox  # noqa: PLC0415  # loads the database

    async def run(dependencies: Dependencies) -> StoredEmail | None:
        async with dependencies.transaction() as tx:
            return await tx.service(Outbox).mail(mail_id)

    mail = program().in_store(run, data_dir)
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


@owner_command(app, "mudra mail retry 7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d")
async def retry(
    api: Api,
    mail_id: Annotated[str, typer.Argument(help="ID of the email, as mudra mail list shows it.")],
) -> Shown:
    """Try an unsent email again now."""
    try:
        done = await api.post(f"/operator/v1/mails/{in_path(mail_id)}/retry")
    except CommandFailed:
        fail(f"no unsent mail has the ID {mail_id}")
    return facts({"mail": mail_id, "result": done["status"]})


async def _failed(api: Api) -> Shown:
    mails = await api.pages("/operator/v1/mails", "mails", {"failed": "true"}, _MAX_COUNT)
    return table(
        ["ID", "SINCE", "TO", "SUBJECT", "ATTEMPTS", "LAST ERROR"],
        [
            [
                *(one["id"], one["createdAt"], one["to"], one["subject"]),
                *(str(one["attempts"]), one.get("lastError", "")),
            ]
            for one in mails
        ],
        mails,
    )
