"""Every command and sample of the tutorials is run as it is written, against a sandbox of its own.

Blocks of a page run in order in one shell. A block of text says what the block before it prints.
Samples in Java and Go, whose compilers take longer, run before a release.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.keycloak import Realm, client
from tests.support.programs import program
from tests.support.registry.registry_payloads import fip, older
from tests.support.service import Service, running_service

ROOT = Path(__file__).parents[2]
RUN_TOO = (
    "test-your-client",
    "move-from-keycloak",
    "rotate-a-secret",
    "several-programs",
    "go-live",
)
"""How-to guides whose commands a sandbox can run."""
PAGES = [
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *(ROOT / "docs" / "how-to" / f"{name}.md" for name in RUN_TOO),
    ROOT / "docs" / "explanation" / "percentiles.md",
]
NODE = ROOT / "tests" / "conformance" / "node" / "node_modules"
BLOCK = re.compile(
    r"^```(?P<kind>sh|python|js|java|go|text)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
WRITTEN = "http://127.0.0.1:8080"
"""The address of a sandbox in the pages."""
MARK = "-- end of a block --"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A sandbox with the demonstration network, as `make run` starts it, without its traffic."""
    folder = tmp_path_factory.mktemp("docs") / "data"
    with running_service(folder, "--demo", "--no-traffic") as service:
        yield service


def write_exports(folder: Path) -> None:
    """Write what the page about a move begins with: a realm, its admins, a directory."""
    realm = Realm("https://login.network.example/realms/aa", [client("MOVED-FIP")])
    realm.write(folder)
    people = ("entityId,adminEmail,adminName,type", "MOVED-FIP,nila@moved.example,Nila Menon,FIP")
    (folder / "admins.csv").write_text("\n".join(people) + "\n")
    (folder / "directory.json").write_text(json.dumps([older(fip(48_000))]))


COMPILED = {
    "java": ("VerifyToken.java", "java VerifyToken.java"),
    "go": ("main.go", "go run main.go"),
}
"""File and command of a sample that is compiled first, as the page says."""


def blocks_of(page: Path, *compiled: str) -> list[tuple[str, str]]:
    """Kind and body of each block; of compiled samples those that are asked for, with their text."""
    kept, previous = [], ""
    for found in BLOCK.finditer(page.read_text()):
        kind, body = found["kind"], found["body"]
        left_out = {previous, kind} & (COMPILED.keys() - set(compiled))
        if not (left_out and (kind == "text" or kind in COMPILED)):
            kept.append((kind, body))
        previous = kind
    return kept


def shell_of(kind: str, body: str) -> str:
    """The shell's words for a block."""
    if kind == "sh":
        return body
    if kind in COMPILED:
        file, command = COMPILED[kind]
        return f"cat > {file} <<'SAMPLE'\n{body}SAMPLE\n{command}\n"
    program = {"python": "python -", "js": "node sample.mjs"}[kind]
    if kind == "js":
        return f"cat > sample.mjs <<'SAMPLE'\n{body}SAMPLE\n{program}\n"
    return f"{program} <<'SAMPLE'\n{body}SAMPLE\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_works_word_by_word(page: Path, sandbox: Service, tmp_path: Path) -> None:
    if "```js" in page.read_text() and not (NODE / "jose").is_dir():
        pytest.skip("the npm packages are not there: run `make test`, which installs them")
    assert_it_works(blocks_of(page), page, sandbox, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", COMPILED)
def test_a_compiled_sample_verifies_a_token(
    language: str, sandbox: Service, tmp_path: Path
) -> None:
    program(language)
    page = ROOT / "docs" / "tutorials" / "verify-a-token.md"
    blocks = blocks_of(page, language)
    place = [kind for kind, _ in blocks].index(language)

    assert_it_works([blocks[0], blocks[place], blocks[place + 1]], page, sandbox, tmp_path)


def assert_it_works(
    blocks: list[tuple[str, str]], page: Path, sandbox: Service, tmp_path: Path
) -> None:
    """Run the blocks in one shell, and compare what each prints with what the page promises."""
    runs = [shell_of(kind, body) for kind, body in blocks if kind != "text"]
    script = "set -euo pipefail\n" + "".join(f"{one}echo '{MARK}'\n" for one in runs)
    (tmp_path / "node_modules").symlink_to(NODE)
    if page.stem == "move-from-keycloak":
        write_exports(tmp_path)
    done = subprocess.run(
        ["bash", "-c", script.replace(WRITTEN, sandbox.root)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "MUDRA_DATA_DIR": str(sandbox.data_dir),
            "LANG": "C.UTF-8",
        },
    )

    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout.split(MARK)
    promised = [
        (sum(one != "text" for one, _ in blocks[:place]) - 1, body)
        for place, (kind, body) in enumerate(blocks)
        if kind == "text"
    ]
    assert promised, "a page that promises nothing proves nothing"
    for number, text in promised:
        for line in text.splitlines():
            assert line in printed[number], (line, printed[number])
