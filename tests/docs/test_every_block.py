"""No block of a document stays unexecuted unseen: it is run, by a test that is named, or has a reason."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.follow import RUN
from tests.docs.left_out import BY_ANOTHER_TEST, is_left_out, rows
from tests.docs.test_call_samples import COMMANDS, samples
from tests.docs.test_call_samples import PAGES as SAMPLED
from tests.docs.test_calls_pages import LIST
from tests.docs.test_calls_pages import PAGES as CALLS
from tests.docs.test_guides import GUIDES
from tests.docs.test_installed_copies import AGENT
from tests.docs.test_samples import API
from tests.docs.test_signed_samples import SIGNED, signed_samples
from tests.docs.test_tutorials import PAGES
from tests.docs.test_webhook_receivers import COMMANDS as RECEIVERS
from tests.docs.test_webhook_receivers import receivers
from tests.support.documents.blocks import (
    DOCUMENTS,
    ROOT,
    Block,
    blocks_of,
    text_of,
    without_blocks,
)

from mudra.bootstrap.config import OTHER_VARIABLES, REFERENCE, load_settings

TESTS = ROOT / "tests"
FOLLOWED = {*GUIDES, *PAGES, *CALLS, LIST, AGENT, "docs/how-to/monitor-the-network.md"}
"""The last one in tests/http/health/test_feed_states.py, where a network has an incident."""
GENERATED = re.compile(r"^(Generated|Made) by `make docs`", re.MULTILINE)
"""`make lint` compares such a page with the program; what a reader runs in it is run all the same."""


def not_followed() -> Iterator[Block]:
    """Blocks that no page is followed with, and that no table names."""
    kinds = (*COMMANDS, "json")
    sampled = {block for page in SAMPLED for kind in kinds for block in samples(page, kind)}
    sampled |= {block for kind in SIGNED for block in signed_samples(kind)}
    sampled |= {block for kind in RECEIVERS for block in receivers(kind)}
    sampled |= {block for block in blocks_of(API) if block.kind == "python"}
    for document in DOCUMENTS:
        made = GENERATED.search(text_of(document)) is not None
        ran = False
        for block in blocks_of(document):
            if block in sampled or is_left_out(block):
                ran = False
            elif block.kind in RUN:
                ran = document in FOLLOWED
                if not ran:
                    yield block
            elif not (made or (block.kind == "text" and ran)):
                yield block


def test_every_block_is_run_or_has_a_reason() -> None:
    assert [(block.document, block.kind, block.first) for block in not_followed()] == []


def test_every_row_of_what_is_left_out_names_a_block() -> None:
    there = {(block.document, block.first) for name in DOCUMENTS for block in blocks_of(name)}

    assert [row for row in rows() if row not in there] == []


def test_every_test_that_is_named_for_a_block_is_there() -> None:
    for test in {one for table in BY_ANOTHER_TEST.values() for one in table.values()}:
        file, _, name = test.partition("::")
        tree = ast.parse((TESTS / file).read_text())
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, test


def test_a_block_is_fenced_and_says_what_it_is() -> None:
    for document in DOCUMENTS:
        assert "" not in {block.kind for block in blocks_of(document)}, document
        assert "```" not in without_blocks(document), document
        # In a list the site takes four spaces, and a line between; else each step is number 1.
        fences = re.findall(r"^(?: {1,3}| {5,})```.*$", text_of(document), re.MULTILINE)
        joined = re.findall(r"\S\n {4}```\w+$", text_of(document), re.MULTILINE)
        assert (fences, joined) == ([], []), document
        shell = re.findall(
            r"^(?: {4,}|\t)(?:mudra|curl|python|make) .*$", without_blocks(document), re.MULTILINE
        )
        assert shell == [], document


def test_settings_of_documents_are_accepted(tmp_path: Path) -> None:
    known = {setting.env for setting in REFERENCE.values()} | OTHER_VARIABLES
    secret = tmp_path / "mudra-sso"
    secret.write_text("a secret")
    for document in DOCUMENTS:
        together: dict[str, str] = {}
        for block in blocks_of(document):
            if block.kind == "env":
                lines = [re.sub(r"\s+#.*", "", line) for line in block.body.splitlines()]
                together |= dict(line.split("=", 1) for line in lines)
        assert together.keys() <= known, document
        load_settings(
            {
                name: value.replace("/run/secrets/mudra-sso", str(secret))
                for name, value in together.items()
            }
        )
