"""The picture of the matrix: a pixel for each cell, in the colours of the page around it."""

import base64
import colorsys
import re
import struct
import zlib

import pytest

from mudra.console.framework.static_assets import STATIC
from mudra.console.pictures.cell_picture import SHADES, cell_pictures

STYLES = {"light": "mudra.css", "dark": "dark.css"}


def drawn(address: str) -> list[list[str]]:
    """The colour of each pixel, empty for none, as the format says (PNG, 11.2.2 and 11.2.3)."""
    png = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length :][:4])[0]
        chunks[kind.decode()], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks["IHDR"][:8])
    lines = zlib.decompress(chunks["IDAT"])
    shades = [chunks["PLTE"][place : place + 3].hex() for place in range(0, 24, 3)]
    seen = [
        one if chunks["tRNS"][place : place + 1] != b"\0" else ""
        for place, one in enumerate(shades)
    ]
    starts = [row * (width + 1) for row in range(height)]
    assert {lines[start] for start in starts} <= {0}
    return [[seen[one] for one in lines[start + 1 : start + 1 + width]] for start in starts]


@pytest.mark.parametrize("scheme", SHADES)
def test_each_cell_is_a_pixel_of_the_color_of_its_class(scheme: str) -> None:
    classes = [["g", "b1", "b2", "b3"], ["b4", "r", "u", ""]]

    found = drawn(dict(cell_pictures(classes))[scheme])

    assert found == [[SHADES[scheme].get(one, "") for one in row] for row in classes]


@pytest.mark.parametrize("scheme", SHADES)
def test_the_colors_are_those_of_the_scale_below_the_picture(scheme: str) -> None:
    style = (STATIC / STYLES[scheme]).read_text()

    of_style = dict(re.findall(r"--heat-(\w): #(\w{6})", style))

    assert {name[-1]: shade for name, shade in SHADES[scheme].items()} == of_style


def test_what_is_worse_follows_the_same_hues_in_both_schemes() -> None:
    hues = {}
    for scheme, shades in SHADES.items():
        parts = [bytes.fromhex(shades[one]) for one in ("b1", "b2", "b3", "b4")]
        turns = [colorsys.rgb_to_hsv(*(one / 255 for one in rgb))[0] for rgb in parts]
        hues[scheme] = [turn - 1 if turn > 0.5 else turn for turn in turns]  # from red on

    for scheme, found in hues.items():
        assert found == sorted(found, reverse=True), scheme
    steps = zip(hues["light"], hues["dark"], strict=True)
    assert max(abs(light - dark) for light, dark in steps) < 1 / 12
