import re
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.mail.email_values import END_LINK, LINK, VALUES

from mudra.mail.compose import EmailComposer, TemplateError
from mudra.mail.facts import FACTS, EmailFactsError
from mudra.mail.smtp import message_of
from mudra.shared.mail.email_message import (
    Attachment,
    Email,
    email_from_bytes,
    email_to_bytes,
    links_in,
)
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.secret_text import SecretText

WITH_LINK = {kind for kind, names in FACTS.items() if "link" in names}

_OF_MEMBER = f"{VALUES['entity_name']}"
FIRST_WORDS = {
    **dict.fromkeys((one for one in NoticeKind if "entity_id" in FACTS[one]), _OF_MEMBER),
    **dict.fromkeys((NoticeKind.SECRET_EXPIRED, NoticeKind.MEMBER_STATUS), "[Urgent] "),
    **dict.fromkeys((one for one in NoticeKind if "severity" in FACTS[one]), "[Major] "),
    NoticeKind.STATUS_INCIDENT: f"{VALUES['institution']} ",
    NoticeKind.STATUS_ANNOUNCEMENT: f"{VALUES['title']} (",
    NoticeKind.SUBSCRIPTION_FAILING: "Your ",
    NoticeKind.SERVICE_RESTORED: "Demo Network: ",
}
"""A lock screen shows these: how bad it is, at which member; of an account the network."""


def write(
    kind: NoticeKind, writer: EmailComposer | None = None, **changed: str | SecretText
) -> Email:
    facts = {name: VALUES[name] for name in FACTS[kind]} | changed
    writer = writer or EmailComposer("Demo Network", contact="help@network.example")
    return writer.compose(Notice("asha@bank.example", kind, facts))


@pytest.mark.parametrize("kind", NoticeKind)
def test_each_email_greets_says_what_to_do_and_whom_to_ask(kind: NoticeKind):
    composed = write(kind)

    assert composed.to == "asha@bank.example"
    assert composed.subject.startswith(FIRST_WORDS.get(kind, "Demo Network: "))
    assert len(composed.subject) < 100
    # An alarm goes to all admins and contacts of an entity: it greets none of them by name.
    named = kind not in {
        NoticeKind.HEALTH_ALARM,
        NoticeKind.HEALTH_DIGEST,
        NoticeKind.HEALTH_ESCALATED,
        NoticeKind.LEVELS_BUDGET,
        NoticeKind.SUBSCRIPTION_CONFIRM,
        NoticeKind.STATUS_INCIDENT,
        NoticeKind.STATUS_ANNOUNCEMENT,
        NoticeKind.SUBSCRIPTION_FAILING,
    }
    assert composed.text.startswith("Hello Asha Venkatesan,\n" if named else "Hello,\n")
    assert "help@network.example" in composed.text
    assert "{{" not in composed.text + composed.html
    assert "\n\n\n" not in composed.text
    assert ("Asha Venkatesan" in composed.html) is named


@pytest.mark.parametrize("kind", sorted(WITH_LINK))
def test_the_link_is_alone_on_its_line_and_is_found(kind: NoticeKind):
    composed = write(kind)

    end = [END_LINK] if "end_link" in FACTS[kind] else []
    pages = VALUES["pages"].split(" | ") if "pages" in FACTS[kind] else []
    assert links_in(composed.text) == [*pages, LINK, *end]
    assert all(f'href="{page}"' in composed.html for page in pages)
    assert LINK in composed.text.splitlines()
    assert f'href="{LINK}"' in composed.html


@pytest.mark.parametrize("kind", sorted(set(NoticeKind) - WITH_LINK))
def test_other_emails_hold_no_link(kind: NoticeKind):
    assert links_in(write(kind).text) == []


def test_only_those_who_manage_secrets_read_about_secrets_when_they_reset_a_password():
    assert "entity secret" in write(NoticeKind.PASSWORD_RESET).text
    assert "entit" not in write(NoticeKind.PASSWORD_RESET, manages_secrets="").text


@pytest.mark.parametrize(
    ("kind", "label"),
    [
        (NoticeKind.INVITATION, "Set your password"),
        (NoticeKind.ADMIN_INVITATION, "View the invitation"),
        (NoticeKind.ADDRESS_CONFIRM, "Confirm the new address"),
        (NoticeKind.SUBSCRIPTION_CONFIRM, "Confirm the subscription"),
        (NoticeKind.STATUS_INCIDENT, "Open the status"),
        (NoticeKind.STATUS_ANNOUNCEMENT, "Open the status"),
    ],
)
def test_the_button_of_a_link_says_where_it_leads(kind: NoticeKind, label: str):
    assert f">{label}</a>" in write(kind).html


def test_numbers_of_one_are_spoken_of_as_one():
    assert write(NoticeKind.SECRET_EXPIRY, days_left="1").subject[-16:] == "expires in 1 day"
    assert "for 1 hour:" in write(NoticeKind.PASSWORD_RESET, valid_hours="1").text
    assert "for 2 hours:" in write(NoticeKind.PASSWORD_RESET, valid_hours="2").text


def test_the_email_of_an_end_promises_no_other():
    begins, ends = (write(NoticeKind.HEALTH_ALARM, over=over).text for over in ("", "yes"))

    assert "another when it is over" in begins
    assert "another" not in ends


def test_a_reset_without_grace_says_that_the_old_secret_has_ended():
    with_grace = write(NoticeKind.SECRET_RESET)
    without = write(NoticeKind.SECRET_RESET, old_secret_ends_at="")

    assert "works until 8 March 2026, 17:30 IST" in with_grace.text
    assert "no longer works" in without.text
    assert "works until" not in without.text


def test_the_expiry_reminder_brings_the_date_for_the_calendar():
    composed = write(NoticeKind.SECRET_EXPIRY)

    assert [a.name for a in composed.attachments] == ["secret-expiry.ics"]
    lines = composed.attachments[0].content.split("\r\n")
    assert "DTSTART:20260828T120000Z" in lines
    assert "DTSTAMP:20260821T120000Z" in lines
    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-2:] == ["END:VCALENDAR", ""]
    assert all(len(line.encode()) <= 75 for line in lines)


def test_all_reminders_of_one_secret_are_one_entry_in_the_calendar():
    def uid(days_left: str) -> str:
        content = write(NoticeKind.SECRET_EXPIRY, days_left=days_left).attachments[0].content
        return re.search(r"UID:.*", content.replace("\r\n ", ""))[0]

    assert uid("30") == uid("7")


def test_names_are_plain_text_in_html():
    composed = write(NoticeKind.PASSWORD_CHANGED, user_name='<b onclick="x">&Asha')

    assert "<b " not in composed.html
    assert "&lt;b onclick=&#34;x&#34;&gt;&amp;Asha" in composed.html
    assert '<b onclick="x">&Asha' in composed.text


def test_a_name_that_looks_like_a_template_stays_a_name():
    assert (
        "Hello {{ network }}," in write(NoticeKind.PASSWORD_CHANGED, user_name="{{ network }}").text
    )


def test_a_missing_fact_is_named():
    notice = Notice("asha@bank.example", NoticeKind.INVITATION, {"user_name": "Asha"})

    with pytest.raises(
        EmailFactsError, match="invitation needs the facts entity_name, link, valid_h"
    ):
        EmailComposer("Demo Network").compose(notice)


def test_an_operators_own_template_comes_before_ours(tmp_path: Path):
    (tmp_path / "password_changed.txt.j2").write_text("Namaste\nDear {{ user_name }}, changed.\n")
    (tmp_path / "letter.html.j2").write_text("<p>{{ paragraphs[0].text }}</p>")
    writer = EmailComposer("Demo Network", tmp_path)

    composed = write(NoticeKind.PASSWORD_CHANGED, writer)

    assert (composed.subject, composed.text) == ("Namaste", "Dear Asha Venkatesan, changed.\n")
    assert composed.html == "<p>Dear Asha Venkatesan, changed.</p>"
    assert "designated admin" in write(NoticeKind.INVITATION, writer).text


def test_an_operator_may_write_the_html_of_one_email(tmp_path: Path):
    (tmp_path / "password_changed.html.j2").write_text("<h1>{{ user_name }}</h1>")
    writer = EmailComposer("Demo Network", tmp_path)

    assert write(NoticeKind.PASSWORD_CHANGED, writer, user_name="<A>").html == "<h1>&lt;A&gt;</h1>"


@pytest.mark.parametrize("language", ["en", "hi"])
def test_every_email_of_the_package_can_be_composed(language: str):
    EmailComposer("Demo Network").check_all(language)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("Hi\n{{ secret }}", "'secret' is undefined"),
        ("Hi\n{% if %}", "Expected an expression"),
        ("Hi\n{{ ''.__class__.__mro__ }}", "unsafe"),
        ("=?utf-8?q?x?=\nbody", "not one plain line"),
    ],
)
def test_a_template_that_cannot_be_used_is_found_at_the_start(
    tmp_path: Path, template: str, problem: str
):
    (tmp_path / "password_changed.txt.j2").write_text(template)

    with pytest.raises(TemplateError, match=problem) as refused:
        EmailComposer("Demo Network", tmp_path).check()

    assert "password_changed" in str(refused.value)
    assert "it may use user_name, network, contact" in str(refused.value)


def test_a_template_that_would_never_be_used_is_found_at_the_start(tmp_path: Path):
    (tmp_path / "invitaton.txt.j2").write_text("Hi\nthere")

    with pytest.raises(
        TemplateError, match=r"invitaton\.txt\.j2 is not the name of an email template"
    ):
        EmailComposer("Demo Network", tmp_path).check()
    with pytest.raises(TemplateError, match="there is no directory"):
        EmailComposer("Demo Network", tmp_path / "nowhere").check()


def test_a_email_comes_back_from_its_bytes():
    composed = write(NoticeKind.SECRET_EXPIRY)

    assert email_from_bytes(email_to_bytes(composed)) == composed


def test_a_email_without_attachments_of_an_older_version_is_read():
    old = b'{"to":"a@b.example","subject":"s","text":"t","html":"h"}'

    assert email_from_bytes(old) == Email("a@b.example", "s", "t", "h")


def test_the_repr_of_a_email_hides_its_link():
    assert "AAECAwQ" not in repr(write(NoticeKind.INVITATION))


def test_the_message_has_text_html_and_calendar_and_a_stable_id():
    composed = write(NoticeKind.SECRET_EXPIRY, user_name="आशा वेंकटेशन")
    at = datetime(2026, 8, 21, 12, tzinfo=UTC)

    raw = message_of(composed, "mudra@network.example", "0b1c-1", at, "Demo Network").as_bytes()
    again = message_of(composed, "mudra@network.example", "0b1c-1", at, "Demo Network")

    message = BytesParser(policy=default).parsebytes(raw)
    assert message["Message-ID"] == again["Message-ID"] == "<0b1c-1@network.example>"
    assert message["From"] == "Demo Network <mudra@network.example>"
    assert message["To"] == "asha@bank.example"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_body(("plain",)).get_content().startswith("Hello आशा वेंकटेशन,")
    assert "<html" in message.get_body(("html",)).get_content()
    (calendar,) = message.iter_attachments()
    assert calendar.get_content_type() == "text/calendar"
    assert calendar.get_filename() == "secret-expiry.ics"
    assert "END:VCALENDAR" in calendar.get_content()
    assert raw.isascii()
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))


def test_an_announcement_is_plain_text_in_both_parts():
    text = "See <b>https://bank.example</b> on Sunday."
    composed = write(NoticeKind.STATUS_ANNOUNCEMENT, text=text)

    assert "announces maintenance:" in composed.text
    assert "See <b>https://bank.example</b> on Sunday." in composed.text
    assert "See &lt;b&gt;https://bank.example&lt;/b&gt; on Sunday." in composed.html
    assert 'href="https://bank.example' not in composed.html


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ({"begins": "", "ends": ""}, None),
        ({"ends": ""}, "From 2026-03-01 17:30 IST (12:00 UTC) on."),
        ({"begins": ""}, "Until 2026-03-01 18:30 IST (13:00 UTC)."),
    ],
)
def test_an_announcement_says_the_times_that_it_has(times: dict[str, str], words: str | None):
    text = write(NoticeKind.STATUS_ANNOUNCEMENT, institutions="", **times).text

    assert "\n\n\n" not in text
    assert "IST" not in text if words is None else f"\n{words}\n" in text


def test_a_mail_program_is_offered_one_click_that_ends_a_subscription():
    composer = EmailComposer("Demo Network")
    facts = {name: VALUES[name] for name in FACTS[NoticeKind.STATUS_INCIDENT]}
    end = SecretText(f"{END_LINK}/end")
    notice = Notice("asha@bank.example", NoticeKind.STATUS_INCIDENT, facts, "hi", end)
    composed = email_from_bytes(email_to_bytes(composer.compose(notice, notice.language)))

    sent = message_of(composed, "mudra@network.example", "1", datetime(2026, 3, 1, tzinfo=UTC))
    message = BytesParser(policy=default).parsebytes(sent.as_bytes())

    # RFC 8058, section 3.1: both headers, the first with an https address in angle brackets.
    assert message["List-Unsubscribe"] == f"<{END_LINK}/end>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    for wrong in (f"{END_LINK}\r\nBcc: e@v.example", "mailto:x@y.example", f"{END_LINK}>,<x:y"):
        with pytest.raises(EmailFactsError, match="unsubscribe"):
            message_of(
                replace(composed, unsubscribe=wrong), "a@b.example", "1",
                datetime(2026, 3, 1, tzinfo=UTC),
            )  # fmt: skip


@pytest.mark.parametrize(
    "attachment",
    [
        Attachment("../x.ics", "text/calendar", ""),
        Attachment("x.ics\r\nBcc: e@v.example", "text/calendar", ""),
        Attachment("x.ics", "text/calendar; x=y", ""),
        Attachment("x.ics", "application/x-sh", ""),
    ],
)
def test_an_attachment_with_an_odd_name_or_type_is_refused(attachment: Attachment):
    composed = Email("a@b.example", "s", "t", "h", (attachment,))

    with pytest.raises(EmailFactsError, match="attachment"):
        message_of(composed, "mudra@network.example", "1", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("until", "apis", "said"),
    [
        (
            "2026-02-27T20:20:00.000Z",
            "FI fetch",
            "Sunrise Bank, FI fetch, 28 February 2026, 00:00 to 01:50 IST.",
        ),
        (
            "2026-02-28T20:20:00.000Z",
            "",
            "Sunrise Bank, 28 February 2026, 00:00 IST to 1 March 2026, 01:50 IST.",
        ),
    ],
)
def test_a_dispute_of_an_incident_names_the_api_and_the_day_once(until: str, apis: str, said: str):
    changed = {"about": "incident", "until": until, "apis": apis, "entity_name": "Sunrise Bank"}
    assert said in write(NoticeKind.DISPUTE_STEP, **changed).text
