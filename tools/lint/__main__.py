"""Run every rule over every tracked file: `python -m tools.lint`, from the root."""

import gc
import sys
from pathlib import Path

from tools.lint.commit_rule import no_commit_outside_database
from tools.lint.docstring_rule import docstring_begins_with_a_verb, package_says_never
from tools.lint.figure_rule import figures_of_tests
from tools.lint.grammar_rule import known_sentences, wrong_grammar
from tools.lint.language_rule import only_plain_words
from tools.lint.migration_rule import clashing_migrations
from tools.lint.name_rule import no_drawer
from tools.lint.place_rule import no_foreign_place
from tools.lint.secret_rule import no_secret_in_a_sentence
from tools.lint.source import Rule, tracked
from tools.lint.store_rule import stores_apart_from_rules
from tools.lint.subject_rule import bad_subjects
from tools.lint.suppress_rule import no_broad_suppress, no_silence_without_reason


def main(root: Path) -> int:
    """Print each fault; return the exit status."""
    rules: tuple[Rule, ...] = (
        no_commit_outside_database,
        no_secret_in_a_sentence,
        no_drawer,
        package_says_never,
        docstring_begins_with_a_verb,
        no_broad_suppress,
        no_silence_without_reason,
        only_plain_words,
        no_foreign_place(root, Path.home()),
    )
    found = list(tracked(root))
    faults = [fault for source in found for rule in rules for fault in rule(source)]
    faults += clashing_migrations(found)
    faults += wrong_grammar(found, known_sentences(root))
    faults += figures_of_tests(found)
    faults += stores_apart_from_rules(found)
    faults += bad_subjects(root)
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} faults (tools/lint)")
    return 1 if faults else 0


if __name__ == "__main__":
    gc.disable()  # all trees are kept: to look for garbage among them takes half of the time
    sys.exit(main(Path.cwd()))
