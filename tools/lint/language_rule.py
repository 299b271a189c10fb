"""Plain words: a reader who knows the field never has to translate.

The rule reads every word of a file: identifiers, comments, strings, pages and documents.
"""

import re
from collections.abc import Iterator

from tools.lint.source import Fault, Source

PLAIN = {
    "told": "returned, shown, reported",
    "tells": "returns, shows, reports",
    "anew": "again",
    "heed": "apply, follow",
    "heeds": "applies, follows",
    "heeded": "applied, followed",
    "deed": "action",
    "deeds": "actions",
    "whoever": "anyone who",
    "thrice": "three times",
    "mend": "fix",
    "mends": "fixes",
    "mended": "fixed",
    "nobody": "no one",
    "beside": "next to, as well as",
    "letter": "email",
    "stands": "is, appears",
    "rooms": "areas, dependencies",
    "chore": "job",
    "chores": "jobs",
    "desk": "service",
    "desks": "services",
    "parent_pipe": "parent pipe",
    "spoilt": "stale",
    "foresee": "predict",
    "surely": "lower bound",
}
# Where the word is the field's own: written characters, mail queues, published event names.
_ALLOWED = re.compile(
    r"dead[ _-]?letters?|mail[:_]letter|letter case|letter\.html|night[ -]desk|it-desk@|"
    r"[\"'`]nobody[\"'`]|nobody[@{]|-nobody-|NOBODY-|told=|\"told\"|letter-spacing|to the letter|"
    r"(?:capital|small|lower-?case|upper-?case|one|two|first) letters?|"
    r"letters?(?=,? (?:and |or )?(?:digit|number|\d|accent|space|hyphen|mark|of the alphabet))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READ = (".py", ".html", ".j2", ".md", ".txt", ".js", ".css", ".toml")
_ITSELF = ("tools/lint/language_rule.py", "tests/unit/tools/")


def only_plain_words(source: Source) -> Iterator[Fault]:
    """Refuse words that have a plainer one."""
    if not source.path.endswith(_READ) or source.under(*_ITSELF):
        return
    text = source.text.lower()
    suspects = [word for word in PLAIN if word in text]  # few lines need to be taken apart
    if not suspects:
        return
    for number, line in enumerate(source.text.splitlines(), 1):
        lower = line.lower()
        if not any(word in lower for word in suspects):
            continue
        for found in _WORD.findall(_ALLOWED.sub("", line)):
            plain = PLAIN.get(found.lower())
            if plain is not None:
                yield Fault(source.path, number, f"{found!r}: write {plain}")
