"""mudra mail: the development mailbox, and what waits to be sent."""

from typing import Annotated

import typer

from mudra.cli.output import show_json, show_table
from mudra.cli.store import AsJson, DataDir, with_rooms
from mudra.http.envelope import iso_ms
from mudra.identity.email_address import AddressRefused, normalise_email
from mudra.mail.compose import links_in
from mudra.runtime.wiring import Rooms
from mudra.storage.outbox import Mail

app = typer.Typer(no_args_is_help=True, help="Mails: the development mailbox and the outbox.")


@app.command("list", epilog="Example: mudra mail list --to lakshmi@kaveribank.example --json")
def list_mails(
    to: Annotated[str | None, typer.Option(help="Only mails to this address.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List mails, oldest first. Whoever may read the master key may read them."""
    address = normalise_email(to) if to else None
    wanted = to if isinstance(address, AddressRefused) else address

    async def act(rooms: Rooms) -> list[Mail]:
        async with rooms.database.transaction() as transaction:
            return list(await rooms.outbox(transaction).mails(to=wanted))

    mails = with_rooms(act, data_dir)
    if as_json:
        show_json([_document(mail) for mail in mails])
        return
    show_table(
        ["SENT", "TO", "SUBJECT"],
        [
            [iso_ms(m.sent_at) if m.sent_at else "waiting", m.letter.to, m.letter.subject]
            for m in mails
        ],
    )


def _document(mail: Mail) -> dict[str, object]:
    return {
        "id": mail.mail_id,
        "to": mail.letter.to,
        "subject": mail.letter.subject,
        "sentAt": iso_ms(mail.sent_at) if mail.sent_at else None,
        "text": mail.letter.text,
        "links": links_in(mail.letter.text),
    }
