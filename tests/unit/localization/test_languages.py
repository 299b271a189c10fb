"""Which language a reader gets, and how it writes numbers, days and texts."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jinja2
import pytest

from mudra.localization.duration import span_text
from mudra.localization.language import ENGLISH, current, gettext, ngettext, written_in
from mudra.localization.languages import Languages
from mudra.localization.templates import add_translation

AT = datetime(2026, 3, 4, 10, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "accepted", "tag"),
    [
        ("", "", "en"),
        ("hi", "", "hi"),
        ("hi", "en-US,en;q=0.9", "hi"),
        ("", "hi-IN,hi;q=0.9,en;q=0.8", "hi"),
        ("", "en-US,en;q=0.9,hi;q=0.8", "en"),
        ("", "en-IN,en;q=0.9,hi;q=0.8", "en-IN"),
        ("en", "en-IN,hi;q=0.9", "en-IN"),
        ("en", "hi", "en"),
        ("", "fr, hi;q=0.5, en;q=0.7", "en"),
        ("", "hi;q=0, en;q=0.1", "en"),
        ("../../etc", "x" * 10_000, "en"),
        ("", "HI-in;q=1.0", "hi"),
        ("", "hi;q=nan,*;q=0.5,,;", "en"),
    ],
)
def test_the_address_comes_before_the_browser_and_that_before_the_network(
    asked: str, accepted: str, tag: str
):
    assert Languages().choose(asked, accepted).tag == tag


def test_numbers_and_days_are_written_as_in_the_language():
    languages = Languages()
    hindi, indian = languages.find("hi"), languages.find("en-IN")
    written = [(one.number(12345678), one.day(AT.date())) for one in (ENGLISH, indian, hindi)]
    assert written == [
        ("12,345,678", "04 Mar 2026"),
        ("1,23,45,678", "04 Mar 2026"),
        ("1,23,45,678", "04 मार्च 2026"),
    ]
    assert hindi.number(99.5, 2) == "99.50"
    assert hindi.minute(AT, UTC) == "04 मार्च 2026, 10:05"
    assert (ENGLISH.long_minute(AT, UTC), hindi.long_minute(AT, UTC)) == (
        "4 March 2026, 10:05",
        "4 मार्च 2026, 10:05",
    )


def test_texts_are_written_in_the_language_of_the_block_alone():
    with written_in(Languages().find("hi")):
        assert gettext("Status") == "स्थिति"
        assert ngettext("%(num)s row", "%(num)s rows", 123456) == "1,23,456 पंक्तियाँ"
        assert span_text(timedelta(hours=2, minutes=5)) == "2 घंटे 5 मिनट"
        assert span_text(timedelta(days=1)) == "1 दिन"
        assert span_text(timedelta(days=7, minutes=-1)) == "7 दिन"
    assert current() is ENGLISH
    assert span_text(timedelta(days=7, minutes=-1)) == "7 days"
    assert span_text(timedelta(days=1, hours=13)) == "2 days"
    assert (gettext("Status"), span_text(timedelta(seconds=70))) == ("Status", "1 min 10 s")


@pytest.mark.parametrize(
    ("seconds", "english", "hindi"),
    [(599, "9 min 59 s", "9 मिनट 59 सेकंड"), (633, "10 min", "10 मिनट"), (3459, "57 min", "57 मिनट")],
)
def test_seconds_are_left_out_from_ten_minutes_on(seconds: int, english: str, hindi: str) -> None:
    assert span_text(timedelta(seconds=seconds)) == english
    with written_in(Languages().find("hi")):
        assert span_text(timedelta(seconds=seconds)) == hindi


def test_a_translation_is_text_and_never_markup(tmp_path: Path):
    hostile = "<script>alert(1)</script>%(who)s"
    header = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    (tmp_path / "ta.po").write_text(
        f'{header}msgid "by %(who)s"\nmsgstr "{hostile}"\n\n'
        f'msgid "%(n)s by"\nmsgid_plural "%(n)s bys"\n'
        f'msgstr[0] "<b>%(n)s"\nmsgstr[1] "\\"onload=%(n)s"\n'
    )
    environment = jinja2.Environment(autoescape=True)
    add_translation(environment)
    page = environment.from_string(
        '{{ _("by %(who)s", who=name) }}{% trans who=name %}by {{ who }}{% endtrans %}'
        "{% trans n=2 %}{{ n }} by{% pluralize %}{{ n }} bys{% endtrans %}"
        '{{ "by %(who)s" | translated }}'
    )
    with written_in(Languages(tmp_path).find("ta")):
        text = page.render(name="<i>&")
    assert "<" not in text
    assert '"' not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&lt;i&gt;&amp;") == 2


def test_a_service_in_english_never_loads_babel():
    code = (
        "import sys; from mudra.localization.languages import Languages; one = Languages();"
        "one.check(); one.choose('', 'en-US'); one.choices; sys.exit('babel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
