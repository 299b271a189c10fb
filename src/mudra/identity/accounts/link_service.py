"""Send one-use links by mail: invitation, and "forgot password" (decisions 3, quality A12, A13)."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.identity.accounts.email_link import LinkPurpose, new_link
from mudra.identity.accounts.user import User, UserState
from mudra.identity.ports import Links, Notice, NoticeKind, Outbox, People
from mudra.identity.sign_in.throttle import may_send_link
from mudra.shared.secret_text import SecretText

_EMAIL_OF: Final[Mapping[LinkPurpose, NoticeKind]] = {
    LinkPurpose.INVITE: NoticeKind.INVITATION,
    LinkPurpose.PASSWORD_RESET: NoticeKind.PASSWORD_RESET,
}
_COUNTED: Final = timedelta(hours=24)


class LinkService(Struct, frozen=True):
    """Makes links, stores their hashes, and puts the letters into the outbox.

    `page` is the address of the activation page, from settings only: a Host
    header never reaches a mail.
    """

    links: Links
    outbox: Outbox
    journal: AuditLog
    people: People
    random_bytes: Callable[[int], bytes]
    page: str

    async def send(
        self, user: User, purpose: LinkPurpose, caller: Caller, *, entity_name: str
    ) -> None:
        """Send a new link; older ones of this user end."""
        now = await self.people.now()
        token, record = new_link(
            self.random_bytes, user_id=user.user_id, address=user.email, purpose=purpose, now=now
        )
        await self.links.keep(record)
        await self.outbox.post(
            Notice(
                user.email,
                _EMAIL_OF[purpose],
                {
                    "user_name": user.name,
                    "entity_name": entity_name,
                    "link": SecretText(self.page + "/" + token.reveal()),
                    "valid_hours": str(int(purpose.life.total_seconds()) // 3600),
                },
            )
        )
        await self.journal.note(
            AuditEntry(
                EventName.USER_LINK_SEND,
                caller,
                user_id=user.user_id,
                reason=purpose.value,
                detail={"expires_at": record.expires_at.isoformat()},
            )
        )

    async def forgot_password(self, user: User | None, caller: Caller) -> None:
        """Send a link when there is someone to send it to; nobody learns whether there was.

        A user who never set a password gets a new invitation instead.
        """
        await self.journal.note(
            AuditEntry(EventName.USER_PASSWORD_FORGOT, caller, user_id=user.user_id if user else "")
        )
        if user is None or user.state is UserState.DISABLED:
            return
        now = await self.people.now()
        if not may_send_link(await self.links.sent_to(user.user_id, now - _COUNTED), now):
            await self.journal.note(
                AuditEntry(
                    EventName.USER_LINK_REFUSE,
                    caller,
                    user_id=user.user_id,
                    reason="too-many-links",
                    outcome=Outcome.REFUSED,
                )
            )
            return
        purpose = (
            LinkPurpose.INVITE if user.state is UserState.INVITED else LinkPurpose.PASSWORD_RESET
        )
        name = user.entity_names[0] if user.entity_names else ""
        await self.send(user, purpose, caller, entity_name=name)
