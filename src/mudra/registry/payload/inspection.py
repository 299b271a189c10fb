"""Inspects values from outside and collects everything that is wrong with them.

Nothing here raises, whatever the value: each method returns a value of the
right type, an empty one if the value is wrong, and adds a finding.
Findings never repeat what may be a private key.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.shared.finding import Finding, Severity
from mudra.shared.text.visible_text import first_unseen

SHOWN = 60
"""Maximum characters of a sender's value that a finding repeats."""
LEAKED = translatable(
    "holds a private key or a part of one, which must never leave its owner: this key has leaked, "
    "make a new one and send its public part only"
)
MISSING = translatable("is missing or empty")
SPACED = translatable("begins or ends with a space")
_ABSENT = translatable("is missing")
MAX_ERRORS = 200
MAX_NEAREST = 20
NAMED = 20
"""Unknown fields of an object that are named one by one; the rest are counted."""

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_#]{0,63}")


class Fault(Struct, frozen=True):
    """A problem of one value, without its path."""

    problem: str
    allowed: str = ""
    nearest: str = ""


class TextRule(Struct, frozen=True):
    """The form of a text, and its description for the sender."""

    allowed: str
    longest: int
    pattern: re.Pattern[str] | None = None
    repair: Callable[[str], str] | None = None
    """Turns a near miss into what its sender most likely meant."""

    def nearest(self, value: str) -> str:
        """Return the repaired value when it fits the pattern, or `""`."""
        repaired = self.repair(value) if self.repair else ""
        return repaired if self.pattern and self.pattern.fullmatch(repaired) else ""


class Inspection:
    """The findings of one document. `older` accepts what older entries hold, with notes."""

    def __init__(self, *, older: bool = False) -> None:
        self.older = older
        self.findings: list[Finding] = []
        self._errors = 0

    @property
    def full(self) -> bool:
        """Return whether more errors would help no one: lists are not read on."""
        return self._errors >= MAX_ERRORS

    def nearest(self, word: str, known: Sequence[str]) -> str:
        """Return the known word most likely meant, for the first findings: the search is slow."""
        return nearest_of(word, known) if len(self.findings) < MAX_NEAREST else ""

    @property
    def failed(self) -> bool:
        """Return whether a finding refuses the document."""
        return any(found.severity is Severity.ERROR for found in self.findings)

    def error(self, path: str, problem: str, allowed: str = "", nearest: str = "") -> None:
        """Add a finding that refuses the document."""
        self._errors += 1
        self.findings.append(Finding(path, problem, allowed, nearest))

    def note(self, path: str, problem: str, allowed: str = "") -> None:
        """Add a note, which refuses nothing."""
        self.findings.append(Finding(path, problem, allowed, severity=Severity.NOTE))

    def odd(self, path: str, problem: str, allowed: str = "", nearest: str = "") -> None:
        """Add a finding that refuses a submission; for an older entry it is a note."""
        severity = Severity.NOTE if self.older else Severity.ERROR
        self.findings.append(Finding(path, problem, allowed, nearest, severity))

    def faults(self, path: str, faults: Iterable[Fault]) -> None:
        """Add every fault as an error at `path`."""
        for fault in faults:
            self.error(path, fault.problem, fault.allowed, fault.nearest)

    def members(
        self,
        path: str,
        value: object,
        known: Sequence[str],
        elsewhere: Mapping[str, str] | None = None,
    ) -> dict[str, object]:
        """Return the known fields of the object at `path`; add a finding for each unknown one.

        `elsewhere` has the place of names that belong to another object.
        """
        if not isinstance(value, dict):
            problem = _ABSENT if value is None else texts.NO_OBJECT % {"value": show(value)}
            self.error(path, problem, texts.WITH_FIELDS % {"names": ", ".join(known)})
            return {}
        unknown = [name for name in value if name not in known]
        for name in unknown[:NAMED]:
            nearest = (elsewhere or {}).get(name) or self.nearest(name, known)
            self.odd(member(path, name), _unknown(older=self.older), ", ".join(known), nearest)
        if len(unknown) > NAMED:
            more = texts.MORE_UNKNOWN % {"count": len(unknown) - NAMED}
            self.odd(path, more, ", ".join(known))
        return {name: value[name] for name in known if name in value}

    def text(self, path: str, value: object, rule: TextRule) -> str:
        """Return the required text at `path`."""
        if is_empty(value):
            self.error(path, MISSING, rule.allowed)
            return ""
        if not isinstance(value, str):
            self.error(path, texts.NO_STRING % {"value": show(value)}, rule.allowed)
            return ""
        fault = text_fault(value, rule)
        if fault is not None:
            self.faults(path, (fault,))
            return ""
        return value

    def word(self, path: str, value: object, words: Sequence[str]) -> str:
        """Return the required word at `path`, one of `words`, or `""`."""
        allowed = ", ".join(words)
        if is_empty(value):
            self.error(path, MISSING, allowed)
        elif not isinstance(value, str):
            self.error(path, texts.NO_STRING % {"value": show(value)}, allowed)
        elif value not in words:
            problem = texts.NOT_ALLOWED % {"value": show(value)}
            self.error(path, problem, allowed, self.nearest(value, words))
        else:
            return value
        return ""

    def each(
        self, path: str, value: object, most: int, read: Callable[[str, object], T | None]
    ) -> tuple[T, ...]:
        """Read every item of the list at `path`; a repeated one is dropped with a note."""
        if is_empty(value):
            return ()
        if not isinstance(value, list):
            self.error(path, texts.NO_ARRAY % {"value": show(value)})
            return ()
        if len(value) > most:
            problem = texts.ITEMS % {"count": len(value)}
            self.error(path, problem, texts.MAX_ITEMS % {"count": most})
        kept: list[T] = []
        for index, item in enumerate(value[:most]):
            if self.full:
                break
            one = read(f"{path}[{index}]", item)
            if one is not None and one in kept:
                self.note(f"{path}[{index}]", translatable("is a duplicate and was dropped"))
            elif one is not None:
                kept.append(one)
        return tuple(kept)


def is_empty(value: object) -> bool:
    """Return whether a value counts as empty: `""`, null, `[]`, `[""]`."""
    if isinstance(value, list):
        return all(item is None or item == "" for item in value)
    return value is None or value == ""


def member(path: str, name: str) -> str:
    """Return the JSON path of a field, safe to print whatever its name is."""
    if _PLAIN_NAME.fullmatch(name):
        return f"{path}.{name}"
    return f"{path}[{_quoted(name)}]"


def nearest_of(word: str, known: Sequence[str]) -> str:
    """Return the known word that the sender most likely meant, or `""`."""
    by_fold = {fold(name): name for name in known}
    # A long text resembles no name; cutting it bounds what the comparison costs.
    close = difflib.get_close_matches(fold(word[:SHOWN]), by_fold, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else ""


def fold(word: str) -> str:
    """Return the form in which spellings of one word are equal: case, hyphen, space."""
    return word.strip().upper().replace("-", "_").replace(" ", "_")


def show(value: object) -> str:
    """Return a short printable form of a value; never a piece of a private key."""
    if isinstance(value, str):
        return translatable("a private key") if holds_private_key(value) else _quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return translatable("a number")
    if value is None:
        return "null"
    return translatable("an array") if isinstance(value, list) else translatable("an object")


def holds_private_key(text: str) -> bool:
    """Return whether a text has a PEM private key in it."""
    return "PRIVATE KEY" in text.upper()


def text_fault(value: str, rule: TextRule) -> Fault | None:
    """Return what is wrong with a text that is not empty."""
    if holds_private_key(value):
        return Fault(LEAKED, rule.allowed)
    if len(value) > rule.longest:
        problem = texts.CHARACTERS % {"count": len(value)}
        return Fault(problem, texts.MAX_CHARACTERS % {"count": rule.longest})
    strange = first_unseen(value)
    if strange:
        problem = texts.CHARACTER % {"code": f"U+{ord(strange):04X}"}
        return Fault(problem, translatable("printable characters only"))
    # An encoded word in a name would let it write mail headers (CVE-2024-6923).
    if "=?" in value:
        return Fault(translatable("holds =?, which mail programs decode"), rule.allowed)
    return _form_fault(value, rule)


def _form_fault(value: str, rule: TextRule) -> Fault | None:
    stripped = value.strip()
    if value != stripped:
        return Fault(SPACED, rule.allowed, stripped)
    if rule.pattern is not None and not rule.pattern.fullmatch(value):
        return Fault(texts.NOT_ALLOWED % {"value": show(value)}, rule.allowed, rule.nearest(value))
    return None


def _quoted(text: str) -> str:
    cut = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return f'"{cut}"' if cut.isprintable() else ascii(cut)


def _unknown(*, older: bool) -> str:
    unknown = translatable("is not a field of this object")
    return f"{unknown} and was dropped" if older else unknown
