"""Every command and sample of the tutorials is run as it is written, in a sandbox.

Blocks of a page run in order in one shell. A block of text says what the block before it prints.
Samples in Java and Go, whose compilers take longer, run before a release.
"""

import json
import sys
from pathlib import Path

import pytest
from tests.docs.follow import COMPILED, Fill, follow
from tests.docs.keycloak import Realm, client
from tests.docs.left_out import is_left_out
from tests.support.depth import part, with_every_change
from tests.support.documents.blocks import ROOT, Block, blocks_of
from tests.support.programs import program
from tests.support.registry.registry_payloads import fip, older
from tests.support.service import Service

PAGES = [
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/tutorials").glob("*.md")),
    "docs/how-to/test-your-client.md",
    "docs/how-to/move-from-keycloak.md",
    "docs/how-to/rotate-a-secret.md",
    "docs/how-to/several-programs.md",
    "docs/how-to/go-live.md",
    "docs/explanation/percentiles.md",
]
ALWAYS = ["docs/tutorials/first-token.md", "docs/tutorials/first-registration.md"]
"""What each newcomer begins with; of the others a fifth runs with every change, others each day."""
INSTALLED = "docs/tutorials/first-window.md"
"""Here each `mudra` is the installed program, in a process of its own."""


def exports() -> dict[str, str]:
    """What the page about a move begins with: a realm, its admins, a directory."""
    realm = Realm("https://login.network.example/realms/aa", [client("GANGES-FIP")])
    people = ("entityId,adminEmail,adminName,type", "GANGES-FIP,gita@ganges.example,Gita Sen,FIP")
    return {
        "realm-export.json": json.dumps(realm.export()),
        "admins.csv": "\n".join(people) + "\n",
        "directory.json": json.dumps([older(fip(48_000))]),
    }


def uncompiled(page: str, *compiled: str) -> list[Block]:
    """The blocks of a page; of compiled samples those that are asked for, with their text."""
    kept, previous = [], ""
    for block in blocks_of(page):
        if is_left_out(block):
            continue
        left_out = {previous, block.kind} & (COMPILED.keys() - set(compiled))
        if not (left_out and (block.kind == "text" or block.kind in COMPILED)):
            kept.append(block)
        previous = block.kind
    return kept


@pytest.mark.parametrize(
    "page", with_every_change([*ALWAYS, *part(PAGES, 0)], PAGES), ids=lambda page: Path(page).stem
)
def test_a_tutorial_works_word_by_word(page: str, sandbox: Service, tmp_path: Path) -> None:
    blocks = uncompiled(page)
    if any(block.kind == "js" for block in blocks):
        program("node-packages")
    fill = Fill(files=exports() if page.endswith("keycloak.md") else {})

    programs = Path(sys.executable).parent if page == INSTALLED else None
    follow(blocks, sandbox, tmp_path, fill, programs=programs)

    assert any(block.kind == "text" for block in blocks), (
        "a page that promises nothing proves nothing"
    )


@pytest.mark.slow
@pytest.mark.parametrize("language", COMPILED)
def test_a_compiled_sample_verifies_a_token(
    language: str, sandbox: Service, tmp_path: Path
) -> None:
    program(language)
    blocks = uncompiled("docs/tutorials/verify-a-token.md", language)
    place = [block.kind for block in blocks].index(language)

    follow([blocks[0], blocks[place], blocks[place + 1]], sandbox, tmp_path)
