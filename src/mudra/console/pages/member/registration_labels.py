"""The words of the registration page in its reader's language: names of fields, findings."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from mudra.localization.language import current, gettext, translatable
from mudra.registry.payload.entry import EntityInfo
from mudra.registry.payload.fields.field_rules import fields_of
from mudra.registry.payload.finding_texts import FORMS
from mudra.registry.payload.inspection import MISSING
from mudra.shared.finding import Finding, Severity

_FIELD: Final = re.compile(r"\$\.entityinfo\.([A-Za-z]+)(?:\[(\d+)\])?")
_KEY: Final = "$.entityinfo.certificate."
_PUBLIC_KEY: Final = translatable("an RSA public key of 2048 to 8192 bits")
_FIELDS: Final = {name: one.label for name, one in fields_of(EntityInfo).items() if one.label}
_NAMES: Final = {
    "DEPOSIT": translatable("Deposit"),
    "TERM_DEPOSIT": translatable("Term deposit"),
    "RECURRING_DEPOSIT": translatable("Recurring deposit"),
    "SIP": translatable("Systematic investment plan"),
    "CP": translatable("Commercial paper"),
    "GOVT_SECURITIES": translatable("Government securities"),
    "EQUITIES": translatable("Equities"),
    "BONDS": translatable("Bonds"),
    "DEBENTURES": translatable("Debentures"),
    "MUTUAL_FUNDS": translatable("Mutual funds"),
    "ETF": translatable("Exchange-traded fund"),
    "IDR": translatable("Indian depository receipt"),
    "CIS": translatable("Collective investment scheme"),
    "AIF": translatable("Alternative investment fund"),
    "INSURANCE_POLICIES": translatable("Insurance policies"),
    "NPS": translatable("National Pension System"),
    "INVIT": translatable("Infrastructure investment trust"),
    "REIT": translatable("Real estate investment trust"),
    "GSTR1_3B": translatable("GST returns 1 and 3B"),
    "LIFE_INSURANCE": translatable("Life insurance"),
    "GENERAL_INSURANCE": translatable("General insurance"),
    "OTHER": translatable("Other"),
    "MOBILE": translatable("Mobile number"),
    "AADHAR": translatable("Aadhaar number"),
    "EMAIL": translatable("Email address"),
    "PAN": translatable("Permanent account number"),
    "DOB": translatable("Date of birth"),
    "ACCNO": translatable("Account number"),
    "CRN": translatable("Customer reference number"),
    "PPAN": translatable("Permanent pension account number"),
    "OTHERS": translatable("Other"),
}


_VALUE: Final = re.compile(r"%\((\w+)\)s")
_LONGEST_FIRST: Final = sorted(FORMS, key=lambda form: -len(_VALUE.sub("", form)))


class Said(Struct, frozen=True):
    """A text of a finding; `lang` is "en" where it is English on a page of another language."""

    text: str
    lang: str = ""


def said(text: str) -> Said:
    """Return a text of a finding as its reader reads it (decision 0059).

    Its text is that of the API, in English. One that the registry's rules write is found again by
    its form, and written in the reader's language with the same values.
    """
    if not text or current().tag.startswith("en"):
        return Said(text)
    whole = gettext(text)
    if whole != text:
        return Said(whole)
    for form, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None and (translation := gettext(form)) != form:
            values = {name: gettext(value) for name, value in found.groupdict().items()}
            return Said(translation % values)
    return Said(text, "en")


def _pattern(form: str) -> re.Pattern[str]:
    """Return what texts of a form look like, with its values as groups."""
    parts = _VALUE.split(form)  # text, name, text, name, …
    pieces = [f"(?P<{one}>.+)" if at % 2 else re.escape(one) for at, one in enumerate(parts)]
    return re.compile("".join(pieces), re.DOTALL)


_PATTERNS: Final = tuple((form, _pattern(form)) for form in _LONGEST_FIRST)


class FieldFinding(Struct, frozen=True):
    """A finding as the page shows it: at which field, and whether it only waits to be filled in.

    `key` is the field of the form, empty for what is elsewhere in the payload; `row` the number
    of the value in a list, from 1.
    """

    finding: Finding
    key: str
    label: str
    row: int
    missing: bool
    problem: Said
    allowed: Said


def notes_of(findings: Iterable[Finding]) -> Sequence[FieldFinding]:
    """Return the findings that refuse nothing."""
    return [_of(one) for one in findings if one.severity is not Severity.ERROR]


def findings_of(findings: Iterable[Finding]) -> Sequence[FieldFinding]:
    """Return the findings that refuse a draft, with the names of their fields."""
    errors = [one for one in findings if one.severity is Severity.ERROR]
    empty = [one for one in errors if one.problem == MISSING and one.path.startswith(_KEY)]
    if len(empty) > 1:  # no key yet: its parts are not what one is asked for
        whole = Finding(_KEY.rstrip("."), MISSING, _PUBLIC_KEY)
        errors = [one for one in errors if one not in empty] + [whole]
    return [_of(one) for one in errors]


def fields_in(findings: Sequence[FieldFinding]) -> int:
    """Count the fields that findings are about: a key with three empty parts is one."""
    return len({one.key or one.finding.path for one in findings})


def named(words: Iterable[str]) -> Sequence[tuple[str, str]]:
    """Return each word of the vocabulary with the name that people know; its own if none."""
    return [(word, gettext(_NAMES[word]) if word in _NAMES else word) for word in words]


def _of(finding: Finding) -> FieldFinding:
    found = _FIELD.match(finding.path)
    key = found[1] if found and found[1] in _FIELDS else ""
    return FieldFinding(
        finding,
        key,
        gettext(_FIELDS[key]) if key else "",
        int(found[2]) + 1 if key and found and found[2] else 0,
        finding.problem == MISSING,
        said(finding.problem),
        said(finding.allowed),
    )
