"""The PDF of a report, by typst: one wheel without a system library, and no browser on a node.

The template is a file of this package. Texts come from members: all reach it as JSON, in one value,
so that a text is shown and never read as markup. Its root, the folder of packages and their cache
are an empty folder, and it knows no network. The fonts are packages for Latin letters and Hindi.

The time in the file is that of the report: equal reports are equal files. A print is not what is
signed: it names the key, the hash of the evidence and the command that checks the numbers.

Measured with one report of two pages (processor time; size in English and Hindi; installed):
typst 0.05 to 0.08 s, 49 and 65 kB, 86 MB; Chromium's printing 0.26 to 0.43 s, 113 and 189 kB,
290 MB and libraries of the system, and a browser whose vulnerabilities a node would have to
follow; weasyprint 0.23 s for one table of 40 rows, 53 MB, and Pango with fonts of the system.
"""

import tempfile
from collections.abc import Awaitable, Callable
from datetime import datetime
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from mudra import DISTRIBUTION
from mudra.levels.printing.printed import Printed
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind

PrintPdf: TypeAlias = Callable[[str, Printed, datetime], Awaitable[bytes | Refusal]]
"""Returns the PDF that a caller (first) asks for; the time is that of its making."""
_FONTS: Final = ("fontpkg_noto_sans", "fontpkg_noto_sans_devanagari")
TOO_MANY_PRINTS: Final = PlainRefusal(
    RefusalKind.BUSY, "too many reports are being printed now; try again", retry_after_s=5
)
NO_PDF: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"this node makes no PDF: its operator installs {DISTRIBUTION}[pdf]; CSV and JSON have the "
    "same numbers",
)


def can_print() -> bool:
    """Returns whether the extra `pdf` is installed."""
    return all(find_spec(one) is not None for one in ("typst", *_FONTS))


def pdf_of(printed: Printed, made_at: datetime) -> bytes:
    """Returns the PDF, tagged for screen readers; equal input makes equal bytes."""
    import typst  # noqa: PLC0415  # of the extra `pdf`

    template = resources.files("mudra.levels.printing").joinpath("report.typ").read_bytes()
    fonts = typst.Fonts(
        include_system_fonts=False,
        include_embedded_fonts=False,
        font_paths=[Path(str(resources.files(one))) / "files" for one in _FONTS],
    )
    data = msgspec.json.encode(printed).decode()
    with tempfile.TemporaryDirectory() as empty:
        compiler = typst.Compiler(
            template,
            root=empty,
            font_paths=fonts,
            ignore_system_fonts=True,
            sys_inputs={"data": data},
            package_path=empty,
            package_cache_path=empty,
        )
        made = compiler.compile(format="pdf", timestamp=made_at.replace(microsecond=0))
    assert isinstance(made, bytes)
    return made
