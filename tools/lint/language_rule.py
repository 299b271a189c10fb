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
    "letters": "emails",
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
    r"dead[ _-]?letters?|mail[:_]letter|sealed_letter|night[ -]desk|\"nobody\"|`nobody`|[?&]told=|"
    r"(?:capital|small|lower-?case|upper-?case|one|two|first) letters?|"
    r"letters?(?=,? (?:and |or )?(?:digit|number|\d|accent|space|hyphen|mark|of the alphabet))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READ = (".py", ".html", ".md", ".txt", ".js", ".css", ".toml")
_ITSELF = ("tools/lint/language_rule.py", "tests/unit/tools/")

CHECKED = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "src/mudra/__init__.py",
    "src/mudra/agent/",
    "src/mudra/audit/",
    "src/mudra/bootstrap/",
    "src/mudra/cli/client/",
    "src/mudra/cli/local/",
    "src/mudra/cli/output/",
    "src/mudra/client/",
    "src/mudra/demo/",
    "src/mudra/http/account/",
    "src/mudra/http/app.py",
    "src/mudra/http/auth/",
    "src/mudra/http/dependencies.py",
    "src/mudra/http/openapi/",
    "src/mudra/http/operator/",
    "src/mudra/http/registry/",
    "src/mudra/http/response/",
    "src/mudra/http/sandbox.py",
    "src/mudra/http/server/",
    "src/mudra/http/token/",
    "src/mudra/identity/memberships/",
    "src/mudra/identity/operators/",
    "src/mudra/identity/sessions/",
    "src/mudra/identity/sign_in/",
    "src/mudra/jobs/",
    "src/mudra/overview/",
    "src/mudra/registry/",
    "src/mudra/shared/",
    "src/mudra/storage/audit/",
    "src/mudra/storage/caching/",
    "src/mudra/storage/crypto/",
    "src/mudra/storage/database/",
    "src/mudra/storage/identity/",
    "src/mudra/storage/registry/",
    "src/mudra/storage/tokens/",
    "src/mudra/tokens/",
    "src/mudra/unit_of_work.py",
    "src/mudra/webhook/",
    "tools/",
)
"""Folders whose words are plain already; the list ends with one entry, the whole repository."""


def only_plain_words(source: Source) -> Iterator[Fault]:
    """Refuse words that have a plainer one."""
    if not source.under(*CHECKED) or not source.path.endswith(_READ) or source.under(*_ITSELF):
        return
    for number, line in enumerate(source.text.splitlines(), 1):
        for found in _WORD.findall(_ALLOWED.sub("", line)):
            plain = PLAIN.get(found.lower())
            if plain is not None:
                yield Fault(source.path, number, f"{found!r}: write {plain}")
