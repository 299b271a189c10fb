"""A QR code as an inline picture: no request of its own, no style, no script."""

from markupsafe import Markup

from mudra.shared.secret_text import SecretText


def qr_code(text: SecretText) -> Markup:
    """Draw the code of a text as SVG, black on white in any color scheme."""
    import segno  # noqa: PLC0415  # only by who sets up a second factor

    drawn = segno.make_qr(text.reveal(), error="m")
    return Markup(  # noqa: S704  # drawn here: numbers and fixed names alone
        drawn.svg_inline(scale=5, dark="#000", light="#fff", svgclass="qr", lineclass=None)
    )
