"""Settings of emails, and of what emails and pages say."""

from dataclasses import dataclass
from pathlib import Path

from mudra.settings import parse
from mudra.settings.setting import setting
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import INDIA


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """The mail server, and the names and languages in emails and pages."""

    # fmt: off
    smtp_url: SecretText | None = setting("SMTP_URL", None, parse.secret_url,
        f"smtp://user:password@host:587 or smtps://…, {parse.ENCODED}",
        "mail server; without one, mails stay in the development mailbox", secret=True, first=True)
    mail_from: str = setting("MAIL_FROM", "mudra@localhost", parse.text, "an e-mail address",
        "sender of mails", first=True)
    mail_templates: Path | None = setting("MAIL_TEMPLATES", None, Path, "a directory",
        "own email templates, by the names of ours; ours are used for those it lacks")
    contact: str = setting("CONTACT", "", parse.text, "a text",
        "whom recipients of emails may ask, such as an address", first=True)
    network_name: str = setting("NETWORK_NAME", "Account Aggregator Network", parse.text, "a name",
        "how mails and pages call it", first=True)
    status_license: str = setting(
        "STATUS_LICENSE", "https://creativecommons.org/licenses/by/4.0/", parse.url,
        "an http or https URL",
        "license under which others may use the data of the public status")
    language: str = setting("LANGUAGE", "en", parse.language, "a tag such as en, en-IN or hi",
        "language of pages and emails for those who have chosen none; the command line and errors "
        "of the API are in English")
    time_zone: str = setting("TIME_ZONE", INDIA, parse.time_zone, "a name such as Asia/Kolkata",
        "time zone of pages and emails for those who have chosen none")
    locales_dir: Path | None = setting("LOCALES_DIR", None, Path, "a directory",
        "catalogues (gettext) that add languages or replace single messages, such as ta.po")
