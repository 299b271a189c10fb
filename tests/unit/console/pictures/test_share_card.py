"""The card that other sites show with a link to a status page."""

import io
import time

import pytest
from PIL import Image

from mudra.console.pictures.share_card import ShareCard, draw, is_drawable

CARD = ShareCard("Network", "Kaveri Bank", "Disrupted", "bad", "ggpbtn", "5 of 6 days")


def pixels(card: ShareCard) -> Image.Image:
    image = Image.open(io.BytesIO(draw(card)))
    assert (image.format, image.size) == ("PNG", (1200, 630))
    return image.convert("RGB")


def test_the_state_is_seen_by_its_color_and_other_facts_make_another_picture() -> None:
    bad = pixels(CARD)
    good = pixels(ShareCard("Network", "Kaveri Bank", "Operational", "good", "gggggg", "6 of 6"))

    assert bad.getpixel((600, 5)) == (163, 22, 27)
    assert good.getpixel((600, 5)) == (13, 107, 70)
    assert draw(CARD) == draw(CARD)


@pytest.mark.parametrize("text", ["", "W" * 500, "A very long name of a bank " * 20])
def test_any_text_fits_within_a_bounded_size_and_time(text: str) -> None:
    begun = time.process_time()
    body = draw(ShareCard(text, text, text, "quiet", "g" * 90, text))

    assert len(body) < 100_000
    assert time.process_time() - begun < 2
    margin = Image.open(io.BytesIO(body)).convert("RGB").crop((1150, 20, 1200, 630))
    assert margin.getcolors() == [(50 * 610, (255, 255, 255))]


def test_a_name_in_letters_that_the_font_has_not_is_found() -> None:
    assert not is_drawable("A “Bank”")
    assert is_drawable("Kāveri Bank & Söhne")
    assert not is_drawable("कावेरी बैंक")
    assert not is_drawable("a\nb")
