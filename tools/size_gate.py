"""Refuse files and functions that outgrew their room (ARCHITECTURE.md, rule 7).

    python tools/size_gate.py [DIRECTORY]

Prints each offender and exits 1, or one line with the figures and exits 0.
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
MEDIAN_LINES = 120
MIGRATIONS = "storage/database/migrations/versions/"
"""A migration lists a schema: its length is that of the schema."""
ROOTS = ("src", "tests", "tools", "bench")


def offences(root: Path) -> Iterator[str]:
    """Each breach as one sentence: where, how long, what is allowed."""
    for path in python_files(root):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(root).as_posix()
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            yield (
                f"{place}: {lines} lines, allowed are {FILE_LINES}; "
                "split it by what changes together"
            )
        if MIGRATIONS not in place:
            yield from long_functions(text, place)
    if (median := median_of_src(root)) >= MEDIAN_LINES:
        yield f"src: the median file has {median:g} lines, allowed are fewer than {MEDIAN_LINES}"


def long_functions(text: str, place: str) -> Iterator[str]:
    """Each function over the limit, counted from `def` to its last line."""
    for node in ast.walk(ast.parse(text, place)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield (
                    f"{place}:{node.lineno}: {node.name} has {lines} lines, "
                    f"allowed are {FUNCTION_LINES}; name its steps"
                )


def median_of_src(root: Path) -> float:
    """Lines of the median file under src; 0 when there is none."""
    sizes = [
        len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(root)
        if path.is_relative_to(root / "src")
    ]
    return statistics.median(sizes) if sizes else 0


def python_files(root: Path) -> list[Path]:
    """The project's own Python files, in a stable order."""
    return sorted(path for name in ROOTS for path in (root / name).rglob("*.py"))


def main(arguments: list[str]) -> int:
    """Check one tree; give the exit status."""
    root = Path(arguments[0] if arguments else ".").resolve()
    found = list(offences(root))
    for sentence in found:
        print(sentence)
    if found:
        print(f"{len(found)} over their size")
        return 1
    print(f"sizes: {len(python_files(root))} files, median of src {median_of_src(root):g} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
