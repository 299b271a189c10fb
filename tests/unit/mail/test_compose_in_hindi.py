"""Every email in Hindi: whole, with the same facts, and sent as it is written."""

import html
import re
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest
from tests.unit.mail.test_compose import LINK, VALUES, WITH_LINK

from mudra.identity.memberships.notices import AdminsChange
from mudra.identity.second_factor.check_code import FactorChange
from mudra.localization.languages import Languages
from mudra.mail.compose import EmailComposer, TemplateError
from mudra.mail.facts import FACTS
from mudra.mail.smtp import message_of
from mudra.shared.mail.email_message import Email
from mudra.shared.mail.notice import Notice, NoticeKind

ENGLISH = re.compile(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z]{2,})+")
COMMAND = re.compile(r"^ *mudra .*$|mudra secret reset [^\n]*|MUDRA_[A-Z_]+", re.MULTILINE)
TRANSLATED = ("what", "severity", "contact", "operator_name")
"""Facts that are texts of ours: they are translated, not data."""
COMPOSER = EmailComposer("Demo Network")
"""One for all: each reads the catalogue again."""


def write(kind: NoticeKind, **changed: str) -> Email:
    facts = {name: VALUES[name] for name in FACTS[kind]} | changed
    if kind is NoticeKind.SECOND_FACTOR:
        facts["what"] = FactorChange.RECOVERY.value
    if kind is NoticeKind.REPORT_HELD:
        facts["what"] = "calls"
    return COMPOSER.compose(Notice("asha@bank.example", kind, facts), "hi")


def english_in(text: str) -> set[str]:
    plain = COMMAND.sub("", html.unescape(re.sub(r"<[^>]+>", "\n", text)))
    data = [str(value) for name, value in VALUES.items() if name not in TRANSLATED and value]
    for one in sorted([*data, LINK, "Demo Network", "AA", "FIP", "ID"], key=len, reverse=True):
        plain = plain.replace(one, "")
    return set(ENGLISH.findall(plain))


@pytest.mark.parametrize("kind", NoticeKind)
@pytest.mark.parametrize("empty", [False, True])
def test_no_sentence_of_an_email_is_left_in_english(kind: NoticeKind, empty: bool):
    choices = (
        "old_secret_ends_at",
        "manages_secrets",
        "over",
        "entity_id",
        "reason",
        "secret_lost",
        "old_contact",
        "new_contact",
    )
    changed = dict.fromkeys(set(choices) & set(FACTS[kind]), "") if empty else {}
    changed |= {"more": "3", "over": "1"} if kind is NoticeKind.HEALTH_DIGEST else {}
    composed = write(kind, **changed)

    assert english_in(f"{composed.subject}\n{composed.text}\n{composed.html}") == set()
    assert "नमस्ते" in composed.text
    assert "नेटवर्क के ऑपरेटर" in composed.text  # whom to ask, where no contact is set
    assert '<html lang="hi">' in composed.html
    assert (LINK in composed.text.splitlines()) is (kind in WITH_LINK)
    assert "\n\n\n" not in composed.text


@pytest.mark.parametrize("change", AdminsChange)
def test_what_an_operator_changed_is_in_hindi(change: AdminsChange):
    composed = write(NoticeKind.ADMINS_CHANGED, change=change.value)

    assert english_in(f"{composed.subject}\n{composed.text}\n{composed.html}") == set()
    assert str(VALUES["person"]) in composed.text


def test_an_operators_change_of_the_contact_is_in_hindi():
    composed = write(NoticeKind.CONTACT_CHANGED, changed_by="")

    assert english_in(composed.text) == set()
    assert composed.text.count("नेटवर्क के ऑपरेटर") == 2


def test_a_subject_in_hindi_is_one_encoded_header():
    composed = write(NoticeKind.SECRET_EXPIRY)
    message = message_of(composed, "noc@network.example", "1", datetime(2026, 3, 1, tzinfo=UTC))
    raw = message.as_bytes()

    subject = re.search(rb"^Subject: (.*?)\r\n(?! )", raw, re.MULTILINE | re.DOTALL)
    assert subject is not None
    assert subject[1].isascii()
    assert b"=?utf-8?" in subject[1]
    read = BytesParser(policy=default).parsebytes(raw)
    assert read["Subject"] == composed.subject
    assert read["Subject"].endswith("Sunrise Bank: एंटिटी सीक्रेट 7 दिनों में समाप्त होगा")
    assert "28 अगस्त 2026, 17:30 IST" in read.get_body(("plain",)).get_content()
    (attachment,) = read.iter_attachments()
    assert "समय-सीमा समाप्त" in re.sub(r"\r?\n ", "", attachment.get_content())


def test_numbers_in_an_email_are_grouped_as_in_india():
    assert "90,00,000 कॉल" in write(NoticeKind.REPORT_HELD).text


def test_who_chose_no_language_reads_that_of_the_network():
    notice = Notice("asha@bank.example", NoticeKind.PASSWORD_CHANGED, {"user_name": "Asha"})
    hindi = EmailComposer("Demo Network", languages=Languages(default="hi"))
    assert hindi.compose(notice).text.startswith("नमस्ते Asha,")
    assert hindi.compose(notice, "en").text.startswith("Hello Asha,")
    assert hindi.compose(notice, "xx").text.startswith("नमस्ते Asha,")


def test_a_translation_that_no_email_can_have_is_found_at_the_start(tmp_path: Path):
    header = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    entry = 'msgid "%(network)s: your second factor"\nmsgstr "%(network)s =?"\n'
    (tmp_path / "ta.po").write_text(header + entry)

    with pytest.raises(TemplateError, match=r"second_factor .*\(ta\)"):
        EmailComposer("Demo Network", languages=Languages(tmp_path)).check()


def test_markup_in_a_translation_is_shown_as_text(tmp_path: Path):
    header = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    entry = 'msgid "Hello %(user_name)s,"\nmsgstr "<img src=x>%(user_name)s"\n'
    (tmp_path / "ta.po").write_text(header + entry)
    notice = Notice("asha@bank.example", NoticeKind.PASSWORD_CHANGED, {"user_name": "<b>"})
    composed = EmailComposer("N", languages=Languages(tmp_path)).compose(notice, "ta")

    assert composed.text.startswith("<img src=x><b>")
    assert "<p>&lt;img src=x&gt;&lt;b&gt;</p>" in composed.html
