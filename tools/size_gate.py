"""Refuses files, functions, folders and flows that are too large (ARCHITECTURE.md, rule 8).

    python tools/size_gate.py [DIRECTORY]
    python tools/size_gate.py --lower

Prints each offender and exits 1, or one line with the figures and exits 0. `size_limits.toml` has
the folders and flows that were larger than allowed when the gate came: their limits only fall, and
`--lower` writes the present figures of those that fell.
"""

import ast
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
MEDIAN_LINES = 120
MIGRATIONS = "storage/database/migrations/versions/"
"""A migration lists a schema: its length is that of the schema."""
ROOTS = ("src", "tests", "tools", "bench")
FOLDER_FILES = 15
FLOW_FILES = 30
COMMON = "What every request passes"
COMMON_FILES = 40
LIMITS = "tools/size_limits.toml"
_TITLE = re.compile(r"^### (.+)$", re.MULTILINE)
_FILE = re.compile(r"`[a-z_/]+/[a-z_]+\.py`")


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
    yield from beyond_limits(root)
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


def beyond_limits(root: Path) -> Iterator[str]:
    """Yields each folder and flow with more files than its limit, or with fewer than a kept one."""
    kept = kept_limits(root)
    for kind, figures in figures_of(root).items():
        for name, files in figures.items():
            limit = kept[kind].get(name, usual_limit(kind, name))
            if files > limit:
                yield f"{name}: {files} files, allowed are {limit}; {_WAY_OUT[kind]}"
        for name, limit in kept[kind].items():
            if figures.get(name, 0) < limit:
                now = figures.get(name, 0)
                yield f"{name}: {now} files, {LIMITS} has {limit}: size_gate.py --lower"


_WAY_OUT = {
    "folders": "join small files to their only importer, or divide the folder by what it owns",
    "flows": "let the request pass fewer files",
}


def usual_limit(kind: str, name: str) -> int:
    """Returns the limit of a folder or flow that has none of its own."""
    if kind == "folders":
        return FOLDER_FILES
    return COMMON_FILES if name == COMMON else FLOW_FILES


def figures_of(root: Path) -> dict[str, dict[str, int]]:
    """Returns the files of each folder of src, and of each flow in ARCHITECTURE.md."""
    folders: dict[str, int] = {}
    for path in (root / "src").rglob("*.py"):
        place = path.parent.relative_to(root).as_posix()
        if path.name != "__init__.py" and MIGRATIONS.rstrip("/") not in place:
            folders[place] = folders.get(place, 0) + 1
    page = root / "ARCHITECTURE.md"
    parts = _TITLE.split(page.read_text(encoding="utf-8")) if page.is_file() else [""]
    titles, texts = parts[1::2], parts[2::2]
    flows = {
        title: len(set(_FILE.findall(text.partition("\n## ")[0])))
        for title, text in zip(titles, texts, strict=True)
    }
    return {"folders": folders, "flows": flows}


def kept_limits(root: Path) -> Mapping[str, dict[str, int]]:
    """Returns the limits of the folders and flows that have one of their own."""
    file = root / LIMITS
    return tomllib.loads(file.read_text()) if file.is_file() else {"folders": {}, "flows": {}}


def lower(root: Path) -> None:
    """Writes the limits that fell; none rises, and none is added."""
    figures, lines = (
        figures_of(root),
        ["# Their limits only fall: python tools/size_gate.py --lower"],
    )
    for kind, kept in kept_limits(root).items():
        lines.append(f"[{kind}]")
        for name, limit in sorted(kept.items()):
            now = min(limit, figures[kind].get(name, 0))
            if now > usual_limit(kind, name):
                lines.append(f'"{name}" = {now}')
    (root / LIMITS).write_text("\n".join(lines) + "\n", encoding="utf-8")


def python_files(root: Path) -> list[Path]:
    """The project's own Python files, in a stable order."""
    return sorted(path for name in ROOTS for path in (root / name).rglob("*.py"))


def main(arguments: list[str]) -> int:
    """Check one tree; give the exit status."""
    if arguments == ["--lower"]:
        lower(Path.cwd())
        return 0
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
