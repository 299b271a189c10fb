"""A text in an email keeps what words need, and loses what controls how others appear."""

import pytest

from mudra.shared.mail.mail_text import safe_in_mail


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("क्\u200dष, ക്\u200cഷ", "क्\u200dष, ക്\u200cഷ"),
        ("wrong\u00a0key", "wrong\u00a0key"),
        ("a\r\nBcc: b", "aBcc: b"),
        ("a\u202eb\u2066c\ufeff", "abc"),
        ("=?utf-8?q?a?=", "= ?utf-8?q?a?="),
    ],
)
def test_a_text_keeps_joiners_and_loses_controls(text: str, safe: str) -> None:
    assert safe_in_mail(text) == safe
