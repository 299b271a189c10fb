"""Emails about updates of announcements, and what operators read of any email."""

import pytest
from tests.unit.mail.test_compose import write

from mudra.shared.mail.notice import NoticeKind
from mudra.shared.secret_text import SecretText


@pytest.mark.parametrize(("over", "said"), [("", "adds to the"), ("yes", "ends the")])
def test_an_update_of_an_announcement_comes_before_what_was_announced(over: str, said: str) -> None:
    mail = write(NoticeKind.STATUS_ANNOUNCEMENT, text="Down.", update="Up again.", over=over)

    assert "update" in mail.subject
    assert said in mail.text
    assert mail.text.index("Up again.") < mail.text.index("Down.")


def test_what_operators_read_of_an_email_has_no_link_of_its_recipient() -> None:
    mail = write(NoticeKind.INVITATION, link=SecretText("https://m.example/activate/t0ken"))

    assert "t0ken" in mail.text
    assert "t0ken" not in mail.shown
    assert mail.shown.replace("[a link for the recipient alone]", "LINK") == mail.text.replace(
        "https://m.example/activate/t0ken", "LINK"
    )
