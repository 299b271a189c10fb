"""docs/reference/open-data.md: what programs read of the public status, with its schema."""

import csv
import io
from pathlib import Path
from typing import Final

import msgspec

from mudra.console.pages.public.status.status_files import MAX_ENTRIES
from mudra.levels.printing.published import PublicLevels
from mudra.metrics.public_status.status_history import DAYS, Day, DayState, StatusSnapshot
from mudra.settings.settings import Settings

_INTRO: Final = Path(__file__).with_name("open_data_intro.md")


def open_data_page() -> str:
    """Return the page."""
    header = io.StringIO()
    csv.writer(header).writerow(["fip_id", *Day.__struct_fields__])
    text = _INTRO.read_text(encoding="utf-8").format(
        days=DAYS,
        entries=MAX_ENTRIES,
        license=Settings().status_license,
        columns=", ".join(f"`{one}`" for one in header.getvalue().strip().split(",")),
        states=", ".join(f"`{one}`" for one in DayState),
    )
    levels = f"\n## levels.json\n\n{_schema(PublicLevels)}"
    return f"{text}\n{_schema(StatusSnapshot)}{levels}"


def _schema(of: type[msgspec.Struct]) -> str:
    schema = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(of)), indent=2)
    return f"```json\n{schema.decode()}\n```\n"
