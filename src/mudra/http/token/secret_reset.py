"""A reset of a secret with its letter: the one way for the API and the console."""

from collections.abc import Callable

from mudra.audit.event import Caller
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity
from mudra.identity.ports import NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.tokens.secrets.manage_secret import ResetCommand, SecretDetails, reset_secret
from mudra.tokens.secrets.reset_rule import ResetLimitReached, ResetTooSoon
from mudra.unit_of_work import UnitOfWork


async def reset_and_notify(
    order: ResetCommand,
    user: User,
    caller: Caller,
    work: UnitOfWork,
    random_bytes: Callable[[int], bytes],
) -> SecretDetails | NotYourEntity | ResetTooSoon | ResetLimitReached:
    """Reset, and write to all admins and the backup contact in the same transaction."""
    shown = await reset_secret(
        order,
        user.administers,
        caller,
        secrets=work.secrets,
        journal=work.journal,
        random_bytes=random_bytes,
    )
    if isinstance(shown, SecretDetails):
        old = shown.in_grace
        await work.notices.tell(
            shown.secret.entity_id,
            NoticeKind.SECRET_RESET,
            {
                "reset_by": user.email,
                "reset_at": iso_ms(shown.secret.created_at),
                "expires_at": iso_ms(shown.secret.expires_at),
                "old_secret_ends_at": iso_ms(old.grace_until) if old and old.grace_until else "",
            },
        )
    return shown
