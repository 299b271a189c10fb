"""Follows a document as its reader does: block after block in one shell, comparing what it promises.

What a reader fills in (names, addresses, files) is replaced by a table that the test shows. Blocks
of text say what the block before them prints.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.docs.shell import run_script
from tests.support.documents.blocks import Block, filled_in
from tests.support.service import Service

from mudra.demo.network import DEMO_PASSWORD

RUN: Final = ("sh", "python", "js", "java", "go")
"""Kinds of blocks that a reader runs."""
COMPILED: Final = {
    "java": ("VerifyToken.java", "java VerifyToken.java"),
    "go": ("main.go", "go run main.go"),
}
"""File and command of a sample that is compiled first, as the page says."""
NODE: Final = Path(__file__).parents[1] / "conformance" / "node" / "node_modules"
_MARK: Final = "-- end of a block --"
_WRITTEN: Final = "http://127.0.0.1:8080"
"""The address of a sandbox in the documents."""
_STRICT: Final = """set -euo pipefail
curl() { command curl -sS --fail-with-body "$@"; }
"""
"""A guide's call that is refused is a fault; tutorials show refusals too."""
_OTHERS: Final = """
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$@"; }
of() { python3 -c 'import json, sys; print(eval(sys.argv[1], {"it": json.load(sys.stdin)}))' "$@"; }
last_link() {  # of the emails to a person
  mudra mail list --to "$1" --json |
    of '[link for mail in it for link in mail["links"] if "/activate/" in link][-1]'; }
activate() {  # the invited person opens the link and sets a password
  { last_link "$1"; echo "$MUDRA_PASSWORD"; } | mudra password set --password-stdin > /dev/null; }
onboard() {  # a member with an active admin
  mudra member onboard "$1" --type "${1##*-}" --name 'Kaveri Bank' --admin "$2" > /dev/null
  activate "$2"; }
"""
"""What other people do meanwhile, for the tables of what happens before a block."""


@dataclass(frozen=True)
class Fill:
    """What a reader fills in, and what happens around the blocks."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Text of the document to the text in its place."""
    before: Mapping[str, str] = field(default_factory=dict)
    """First line of a block to what happened before it, in words of the shell."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What the reader's folder has at the beginning."""


def shell_of(block: Block) -> str:
    """The shell's words for a block."""
    if block.kind == "sh":
        return block.body
    if block.kind in COMPILED:
        file, command = COMPILED[block.kind]
        return f"cat > {file} <<'SAMPLE'\n{block.body}SAMPLE\n{command}\n"
    if block.kind == "js":
        return f"cat > sample.mjs <<'SAMPLE'\n{block.body}SAMPLE\nnode sample.mjs\n"
    return f"python - <<'SAMPLE'\n{block.body}SAMPLE\n"


def follow(
    blocks: Sequence[Block],
    service: Service,
    folder: Path,
    fill: Fill | None = None,
    *,
    strict: bool = False,
    programs: Path | None = None,
) -> list[str]:
    """Run the blocks; gives what each of those that run printed.

    With a folder of `programs` each `mudra` is the one there, in a process of its own.
    """
    fill = fill or Fill()
    for name, text in fill.files.items():
        (folder / name).write_text(text)
    (folder / "node_modules").symlink_to(NODE)
    runs = [block for block in blocks if block.kind in RUN]
    known = {block.first for block in runs}
    assert fill.before.keys() <= known, fill.before.keys() - known
    parts = [
        f"{{\n{fill.before.get(block.first, ':')}\n}}\n{shell_of(block)}\necho '{_MARK}'\n"
        for block in runs
    ]
    script = (_STRICT + _OTHERS if strict else "set -euo pipefail\n") + "".join(parts)
    for written in fill.names:
        assert written in script, f"{written}: not in the document"
    script = filled_in(script, {_WRITTEN: service.root, **fill.names})
    environment = _environment(service, folder, programs, strict=strict)
    done = run_script(script, folder, environment, own_process=programs is not None)
    printed = done.out.split(_MARK)

    assert done.code == 0, f"{runs[len(printed) - 1].body}\n{done.out[-2000:]}\n{done.err[-4000:]}"
    compare(blocks, printed, fill.names)
    return printed[: len(runs)]


def compare(blocks: Sequence[Block], printed: Sequence[str], names: Mapping[str, str]) -> None:
    """Each line that a block of text promises is in what the block before it printed."""
    for place, block in enumerate(blocks):
        if block.kind != "text":
            continue
        number = sum(one.kind in RUN for one in blocks[:place]) - 1
        for line in filled_in(block.body, names).splitlines():
            assert line in printed[number], (line, printed[number])


def _environment(
    service: Service, folder: Path, programs: Path | None, *, strict: bool
) -> dict[str, str]:
    """Variables of the reader's shell; guides begin where the settings of a node are known."""
    settings = {
        "MUDRA_BASE_URL": service.issuer,
        "MUDRA_PASSWORD": DEMO_PASSWORD,
        "MUDRA_SANDBOX": "true",
    }
    return {
        "PATH": f"{programs or Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "MUDRA_DATA_DIR": str(service.data_dir),
        "MUDRA_CONFIG_DIR": str(folder / "config"),
        **(settings if strict else {}),
    }
