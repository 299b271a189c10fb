"""The card of a status page that other sites show with a link to it (Open Graph): a PNG.

Drawn by Pillow with the font that it brings, which has Latin letters alone.
"""

import io
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

WIDTH, HEIGHT = 1200, 630
_MARGIN: Final = 80
_ROOM: Final = WIDTH - 2 * _MARGIN
_PADDING: Final = 28
_MAX_TEXT: Final = 120
_LAST_LATIN: Final = 0x24F
"""Letters beyond are not in the font."""
_BACK, _INK, _QUIET = "#ffffff", "#14202b", "#51606f"
_TONES: Final = {"good": "#0d6b46", "warn": "#7a4300", "bad": "#a3161b", "quiet": "#51606f"}
_DAYS: Final[Mapping[str, tuple[str, int]]] = {  # color and height of a day's bar, by its mark
    "g": ("#1f9d6b", 90),
    "p": ("#d98a00", 104),
    "b": ("#c9252b", 116),
    "t": ("#8a97a3", 40),
    "n": ("#d5dce2", 24),
}
_TITLE_SIZES: Final = (84, 68, 54)
_BASE_Y: Final = 520


class ShareCard(Struct, frozen=True):
    """Facts that a card shows; equal cards are the same picture.

    `days` has the first letter of the state of each day, as on the page; empty for no days.
    """

    network: str
    title: str
    state: str
    tone: str
    days: str
    note: str


def is_drawable(text: str) -> bool:
    """Returns whether the font has every character of a text."""
    return all(one.isprintable() and ord(one) <= _LAST_LATIN for one in text)


def draw(card: ShareCard) -> bytes:
    """Returns the picture: 1,200 by 630 pixels, some 30 kB, within some 30 ms of a processor."""
    from PIL import Image, ImageDraw  # noqa: PLC0415  # most processes never draw one

    image = Image.new("RGB", (WIDTH, HEIGHT), _BACK)
    drawing = ImageDraw.Draw(image)
    drawing.rectangle((0, 0, WIDTH, 14), fill=_TONES[card.tone])
    drawing.text((_MARGIN, 70), _cut(card.network, 34), fill=_QUIET, font=_font(34))
    size = next((one for one in _TITLE_SIZES if _width(card.title, one) <= _ROOM), _TITLE_SIZES[-1])
    drawing.text((_MARGIN, 140), _cut(card.title, size), fill=_INK, font=_font(size))
    _state(drawing, card)
    _days(drawing, card.days)
    drawing.text((_MARGIN, 555), _cut(card.note, 28), fill=_QUIET, font=_font(28))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _state(drawing: "ImageDraw", card: ShareCard) -> None:
    text, font = _cut(card.state, 40, _ROOM - 2 * _PADDING), _font(40)
    width = font.getlength(text)
    box = (_MARGIN, 270, _MARGIN + width + 2 * _PADDING, 340)
    drawing.rounded_rectangle(box, radius=35, fill=_TONES[card.tone])
    drawing.text((_MARGIN + _PADDING, 305), text, fill=_BACK, font=font, anchor="lm")


def _days(drawing: "ImageDraw", days: str) -> None:
    if not days:
        return
    step = _ROOM / len(days)
    for at, mark in enumerate(days):
        color, height = _DAYS[mark]
        left = _MARGIN + at * step
        box = (left, _BASE_Y - height, left + max(step - 3, 1), _BASE_Y)
        drawing.rectangle(box, fill=color)


def _cut(text: str, size: int, room: int = _ROOM) -> str:
    """Returns a text that fits into one line, its end left out if need be."""
    text = text[:_MAX_TEXT]
    if _width(text, size) <= room:
        return text
    while text and _width(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _width(text: str, size: int) -> float:
    return _font(size).getlength(text[:_MAX_TEXT])


@cache
def _font(size: int) -> "FreeTypeFont":
    from PIL import ImageFont  # noqa: PLC0415  # as above

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
