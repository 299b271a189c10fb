"""Write docs/security/cryptography.md: where cryptography is used, read from the code itself.

    python -m tools.cryptography_page [--check]

With --check it writes nothing and exits 1 when the page is out of date (ASVS 11.1.2).
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

SOURCE: Final = Path("src/mudra")
PAGE: Final = Path("docs/security/cryptography.md")
LIBRARIES: Final = (
    "cryptography",
    "joserfc",
    "argon2",
    "hashlib",
    "hmac",
    "secrets",
    "ssl",
    "pyotp",
    "pyrage",
    "webauthn",
)
INTRO: Final = Path(__file__).with_name("cryptography_intro.md")


def main() -> int:
    """Write or compare the page; gives the exit code."""
    page = INTRO.read_text() + "".join(_rows())
    if "--check" not in sys.argv:
        PAGE.write_text(page)
        return 0
    if not PAGE.exists() or PAGE.read_text() != page:
        print(f"{PAGE} is out of date: run make docs")
        return 1
    return 0


def _rows() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        used = sorted(set(_uses(tree)))
        if used:
            purpose = (ast.get_docstring(tree) or "").partition("\n")[0]
            yield f"| `{path.relative_to(SOURCE)}` | {purpose} | {', '.join(used)} |\n"


def _uses(tree: ast.Module) -> Iterator[str]:
    """Name what a file takes from the libraries: functions of a module, classes by their names."""
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_library(node.module or ""):
            yield from (f"`{node.module}.{one.name}`" for one in node.names)
        elif isinstance(node, ast.Import):
            modules += [one.name for one in node.names if _is_library(one.name)]
    yield from _attributes(tree, modules)


def _attributes(tree: ast.Module, modules: Sequence[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            yield f"`{ast.unparse(node)}`"


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


if __name__ == "__main__":
    sys.exit(main())
