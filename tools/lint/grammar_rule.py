"""Grammar: the first sentence of a docstring has a noun as its subject and a verb, or a noun alone.

`grammar_known.txt` lists the sentences that are older than the rule. The list only shrinks:
`python -m tools.lint.grammar_rule` removes what is no longer in the code, and adds nothing.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tools.lint.source import Fault, Source, tracked

KNOWN: Final = Path("tools/lint/grammar_known.txt")
_READ: Final = ("src/mudra/", "tools/", "tests/support/", "bench/")
_NO_SUBJECT: Final = frozenset(
    {"How", "Of", "So", "That", "Those", "What", "When", "Where", "Whether", "Which", "Who", "Whom"}
    | {"Whose", "Why"}
)
_CONDITION: Final = frozenset({"When", "Where"})
"""They may begin a condition, which a comma ends."""
_INSTEAD_OF_A_NOUN: Final = re.compile(
    r"\b(?:that|those|ones) of\b|\bone of (?:them|those)\b|^One of\b", re.IGNORECASE
)
_END: Final = re.compile(r"(?<=[.:;?!])\s|\n\n")


def problem(sentence: str) -> str:
    """Return what is wrong with a first sentence; empty if nothing is."""
    first = re.split(r"[ ,.:;]", sentence, maxsplit=1)[0]
    if first in _NO_SUBJECT and not (first in _CONDITION and "," in sentence):
        return f"begin with a noun or with a verb (Returns, Stores, …), not {first!r}"
    if found := _INSTEAD_OF_A_NOUN.search(sentence):
        return f"name the noun in place of {found[0]!r}"
    return ""


def first_sentences(source: Source) -> Iterator[tuple[int, str]]:
    """Yields line and text of the first sentence of each docstring."""
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = (ast.get_docstring(node) or "").strip()
            if text:
                line = getattr(node, "lineno", 1)
                yield line, " ".join(_END.split(text, maxsplit=1)[0].split())


def wrong_grammar(sources: Sequence[Source], known: frozenset[str]) -> Iterator[Fault]:
    """Refuses wrong first sentences that are not known, and known ones that are gone."""
    met: set[str] = set()
    for source in sources:
        if source.is_python and source.under(*_READ):
            for line, sentence in first_sentences(source):
                if wrong := problem(sentence):
                    met.add(sentence)
                    if sentence not in known:
                        yield Fault(source.path, line, f"{sentence!r}: {wrong}")
    gone = known - met
    if gone:
        shown = f"{len(gone)} sentences are no longer in the code, such as {min(gone)!r}"
        yield Fault(str(KNOWN), 1, f"{shown}: python -m tools.lint.grammar_rule removes them")


def known_sentences(root: Path) -> frozenset[str]:
    """Returns the sentences that are older than the rule."""
    file = root / KNOWN
    return frozenset(file.read_text(encoding="utf-8").splitlines() if file.is_file() else ())


def shrink(root: Path) -> int:
    """Removes from the list what is no longer in the code; returns how many are left."""
    wrong = {
        sentence
        for source in tracked(root)
        if source.is_python and source.under(*_READ)
        for _, sentence in first_sentences(source)
        if problem(sentence)
    }
    left = sorted(known_sentences(root) & wrong)
    (root / KNOWN).write_text("".join(f"{one}\n" for one in left), encoding="utf-8")
    return len(left)


if __name__ == "__main__":
    sys.stdout.write(f"{shrink(Path.cwd())} known sentences are left\n")
