"""A printed report: its numbers are the report's, and no text of a member is read as markup."""

import io
import re
from collections import Counter
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pypdf import PdfReader
from tests.support.depth import examples
from tests.unit.levels.recount import START, random_world
from tests.unit.levels.worlds import MEMBER, RULE, evidence_of

from mudra.levels.printing import labels
from mudra.levels.printing.labels import amount_text, change_texts, exact_text
from mudra.levels.printing.pdf import pdf_of
from mudra.levels.printing.printed import printed_report
from mudra.levels.printing.signed_words import cause_words, reason_words
from mudra.levels.report import Change, Report, encoded_evidence, next_version, report_of
from mudra.levels.target import SHIPPED, Measure
from mudra.localization.language import written_in
from mudra.localization.languages import Languages
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.percentiles import percentiles_of

INDIA = ZoneInfo("Asia/Kolkata")
_OTHER_REASONS = [
    "reports: 17 were received before, 18 now",
    "replaced reports or other targets",
]
HOSTILE = (
    '#read("/etc/passwd")',
    '#import "@preview/x:1.0.0": *',
    "#while true {}",
    '"]#panic("x")[',
    "$ x^2 $ *bold* _it_ `raw` <label> @label",
    "\\u{1F600} // comment /* no */",
    "= Heading\n- list",
    "{{ x }} {0} %s %(page)s",
    "\u202egnirts",
)


def report(seed: int = 3) -> Report:
    world = random_world(seed)
    within = TimeRange(START, world.at(world.windows))
    made_at = datetime(2026, 4, 1, 6, 40, 3, 141_592, UTC)
    return report_of(
        MEMBER,
        within,
        evidence := evidence_of(world),
        encoded_evidence(evidence),
        SHIPPED,
        issuer="https://x.example/iam",
        rule=RULE,
        now=made_at,
        percentiles_of=percentiles_of,
    )


def test_a_changed_number_is_printed_in_full_with_its_unit() -> None:
    changed = [
        Change("availability", "fif", "part", 1_234_567.0, 1_234_568.0),
        Change("availability", "fif", "value", 99.9333, None),
        Change("p95", "fif", "value", 1855.0, 120_000.0),
    ]

    assert [change_texts(one) for one in changed] == [
        ["Availability", "FI fetch", "Part", "1,234,567", "1,234,568"],
        ["Availability", "FI fetch", "Value", "99.9333 %", labels.NOTHING],
        ["95 % took at most", "FI fetch", "Value", "1,855 ms", "120,000 ms"],
    ]


def test_shares_are_cut_off_as_decimals_and_targets_are_whole() -> None:
    # As a binary number, a hundred times 1.13 is 112.99…
    assert amount_text(Measure.SUCCESS, 1.13, 2) == "1.13 %"
    assert amount_text(Measure.SUCCESS, 99.9999, 2) == "99.99 %"
    targets = (99.95, 90.0, 99.5)
    assert [exact_text(Measure.SUCCESS, one) for one in targets] == ["99.95 %", "90.0 %", "99.5 %"]
    times = (600_000.0, 10_000.0, 7_500.0, 90_000.0, 1.0)
    shown = [exact_text(Measure.P95, one) for one in times]
    assert shown == ["10 min", "10 s", "7.5 s", "90 s", "0.001 s"]


def test_a_time_is_the_same_in_every_language() -> None:
    languages = Languages()
    found = []
    for tag in ("en", "en-IN", "hi"):
        with written_in(languages.of(tag)):
            found.append(amount_text(Measure.P95, 855, 2).split()[0])

    assert found == ["0.86"] * 3


def texts(content: bytes) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]


def printed(made: Report, tag: str = "en") -> bytes:
    language = Languages().find(tag)
    assert language is not None
    with written_in(language):
        return pdf_of(printed_report(made, "Example Network", INDIA, "kid-1"), made.made_at)


@pytest.mark.parametrize("tag", ["en", "hi"])
def test_every_number_of_the_report_is_printed(tag: str) -> None:
    made = report()

    pages = texts(printed(made, tag))

    shown = Counter(re.findall(r"[\d,]+(?:\.\d+)?", " ".join(pages)))
    wanted = Counter[str]()
    for one in made.figures:
        if one.value is not None:
            share = int(one.value * 100) / 100
            wanted[f"{one.value / 1000:,.2f}" if one.measure.in_ms else f"{share:.2f}"] += 1
        if one.measure.value == "availability":
            for count in (one.whole, one.left_out, one.uncertain, one.reporters):
                wanted[f"{count:,}"] += 1
    assert not wanted - shown
    assert all(f"{page} " in text or f"{page}\n" in text for page, text in enumerate(pages, 1))
    assert made.evidence in "".join(pages).replace("\n", "")


@pytest.mark.parametrize("seed", range(6))
def test_what_is_signed_is_english_in_every_language(seed: int) -> None:
    with written_in(Languages().of("hi")):
        made = evidence_of(random_world(seed)).spans

    assert made == evidence_of(random_world(seed)).spans


def test_all_sentences_of_ours_are_printed_in_the_readers_language() -> None:
    """Only what people wrote, and names, stay as they are."""
    spans = [one for seed in range(40) for one in evidence_of(random_world(seed)).spans]
    written = {"new disks", "agreed", "FIP KAVERI-FIP"}
    later = replace(report(0), spans=tuple(spans[:40]))
    second = next_version(replace(report(0), spans=tuple(spans[20:60]), figures=()), later)
    assert second is not None
    with written_in(Languages().of("hi")):
        causes = {one.cause: cause_words(one.cause) for one in spans}
        reasons = [reason_words(one) for one in (*second.reasons, *_OTHER_REASONS)]
        targets = printed_report(second, "Network", INDIA, "kid-1").tables[-1].rows

    kept = {text for text, shown in causes.items() if text == shown}
    assert len(causes) > len(written) + 6
    assert kept == written
    names = r"FIP|AA|API|ID|FI|GOOD|new disks|agreed|[A-Z][A-Za-z0-9]*-[A-Za-z0-9-]+|[a-z]+-\d+"
    for text in (*causes.values(), *reasons, *(row[-1] for row in targets)):
        rest = re.sub(names, "", text)
        assert not re.search(r"[A-Za-z]{2,}", rest), text


def test_in_english_they_are_as_they_are_signed() -> None:
    spans = [one for seed in range(40) for one in evidence_of(random_world(seed)).spans]

    assert all(cause_words(one.cause) == one.cause for one in spans)
    assert [reason_words(one) for one in _OTHER_REASONS] == _OTHER_REASONS


def test_hindi_is_in_its_own_letters() -> None:
    # Extraction undoes no shaping: letters of a cluster come in the order in which they are drawn.
    text = " ".join(texts(printed(report(), "hi")))
    letters = [one for one in text if "\u0900" <= one <= "\u097f"]

    assert len(letters) > 400
    assert all(one in letters for one in "उपलब्धता")


def test_equal_reports_are_equal_files() -> None:
    assert printed(report()) == printed(report())


@settings(max_examples=examples(12), deadline=None)
@given(
    st.one_of(
        st.sampled_from(HOSTILE),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=64),
    )
)
def test_a_text_is_printed_and_never_read_as_markup(text: str) -> None:
    plain = report()
    hostile = replace(
        plain,
        member=replace(plain.member, name=f"A{text}Z"),
        issuer=text,
        spans=tuple(replace(one, cause=text) for one in plain.spans),
        targets=tuple(replace(one, reason=text) for one in plain.targets),
    )

    content = printed(hostile)

    assert content.startswith(b"%PDF-")
    if text in HOSTILE[:4]:
        assert f"A{text}Z" in " ".join(texts(content))
    assert b"root:" not in content


def test_a_report_with_ten_thousand_spans_says_what_it_leaves_out() -> None:
    made = report()
    many = replace(made, spans=made.spans[:1] * 10_000)

    pages = texts(printed(many))

    assert "9,600 more are in the signed report." in " ".join(pages)
    assert len(pages) < 40
