"""The list of emails: a message to many is one row, unless their fates differ."""

from datetime import UTC, datetime, timedelta

from mudra.console.pages.operator.mails import folded
from mudra.overview.mail_queue_store import QueuedMail

AT = datetime(2026, 11, 30, 18, 10, 5, tzinfo=UTC)


def mail(to: str, subject: str = "[Critical] Kaveri Bank", error: str = "") -> QueuedMail:
    sent = None if error else AT
    return QueuedMail(to, f"{to}@network.example", subject, AT, sent, 1, error, None)


def test_a_message_to_many_is_one_row_with_their_number() -> None:
    rows = [mail("a"), mail("other", "Another"), mail("b"), mail("refused", error="550")]

    shown = folded(rows)

    assert [(one.recipient, one.mail_id) for one in shown] == [
        ("2 recipients", ""),
        ("other@network.example", "other"),
        ("refused@network.example", "refused"),
    ]


def test_the_same_subject_a_minute_later_is_another_message() -> None:
    first = mail("a")
    later = QueuedMail(
        "b", "b@network.example", first.subject, AT + timedelta(minutes=1), AT, 1, "", None
    )

    assert folded([first, later]) == [first, later]
