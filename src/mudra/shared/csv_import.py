"""CSV that people write: by Excel of whichever language, by hand, by a program. Pure."""

import csv
import io
from collections.abc import Iterator
from typing import Protocol


class CsvReader(Protocol):
    """A reader of the library, which counts the lines that it has read."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


def csv_reader(text: str) -> CsvReader:
    """Return the rows of a text, separated by comma or semicolon, whichever its first line has.

    Reading raises csv.Error for what is no CSV, such as a quote without its end.
    """
    text = text.removeprefix("\ufeff")
    head = text.lstrip().partition("\n")[0]
    delimiter = ";" if head.count(";") > head.count(",") else ","
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
