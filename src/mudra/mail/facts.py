"""The facts of each kind of email, which its template may use.

An operator's own templates may use the same, and `network` and `contact`
everywhere. Times are ISO 8601 in UTC; the filter `when` formats them for people.
"""

from collections.abc import Mapping
from typing import Final

from mudra.identity.accounts.email_address import unsafe_in_mail
from mudra.identity.ports import Notice, NoticeKind
from mudra.shared.secret_text import SecretText

_OF_SECRET: Final = ("user_name", "entity_id", "entity_name")
FACTS: Final[Mapping[NoticeKind, tuple[str, ...]]] = {
    NoticeKind.INVITATION: ("user_name", "entity_name", "link", "valid_hours"),
    NoticeKind.ACCOUNT_INVITATION: ("user_name", "link", "valid_hours"),
    NoticeKind.PASSWORD_RESET: ("user_name", "link", "valid_hours"),
    NoticeKind.PASSWORD_CHANGED: ("user_name",),
    # old_secret_ends_at is empty when the old secret ended at once.
    NoticeKind.SECRET_RESET: (
        *_OF_SECRET,
        *("reset_by", "reset_at", "expires_at", "old_secret_ends_at"),
    ),
    NoticeKind.SECRET_EXPIRY: (*_OF_SECRET, "expires_at", "days_left", "written_at"),
    NoticeKind.SECRET_EXPIRED: (*_OF_SECRET, "expires_at"),
    NoticeKind.OLD_SECRET_IN_USE: (
        *_OF_SECRET,
        *("ends_at", "last_used_at", "use_count", "address_count"),
    ),
    NoticeKind.SIGN_IN_WAITS: ("user_name", "failures", "last_failure_at"),
    NoticeKind.HEALTH_ALARM: ("title", "story", "entity_id"),
    NoticeKind.ADDRESS_CHANGED: ("user_name", "old_address", "new_address"),
}


class EmailFactsError(ValueError):
    """An email cannot be composed: names the email and the fact, never its value."""


def checked_facts(notice: Notice) -> dict[str, str]:
    """Return the facts of a notice as text; raises EmailFactsError if one is missing or unsafe."""
    missing = [name for name in FACTS[notice.kind] if name not in notice.facts]
    if missing:
        raise EmailFactsError(f"the email {notice.kind} needs the facts {', '.join(missing)}")
    texts = {
        name: value.reveal() if isinstance(value, SecretText) else value
        for name, value in notice.facts.items()
    }
    for name, value in texts.items():
        if unsafe_in_mail(value):
            # quality 2.4: such a value could add headers or recipients.
            raise EmailFactsError(
                f"the fact {name} of the email {notice.kind} "
                "must hold no control characters and no '=?'"
            )
    return texts
