"""Write letters from templates, in text and HTML.

An operator's own templates, by the same names, come before ours.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import jinja2
import msgspec

from mudra.identity.ports import Notice
from mudra.secret_text import SecretText

_LINK: Final = re.compile(r"https?://[^\s<>\"]+")


class Letter(msgspec.Struct, frozen=True):
    """A letter ready to be sent. `text` and `html` may hold a one-use link."""

    to: str
    subject: str
    text: str
    html: str

    def __repr__(self) -> str:
        return f"Letter(to={self.to!r}, subject={self.subject!r})"


class LetterWriter:
    """Composes letters; `network_name` is how the network calls itself."""

    def __init__(self, network_name: str, own_templates: Path | None = None) -> None:
        loaders: list[jinja2.BaseLoader] = [jinja2.PackageLoader("mudra.mail", "templates")]
        if own_templates is not None:
            loaders.insert(0, jinja2.FileSystemLoader(own_templates))
        self._templates = jinja2.Environment(
            loader=jinja2.ChoiceLoader(loaders),
            autoescape=jinja2.select_autoescape(["html"]),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._network_name = network_name

    def compose(self, notice: Notice) -> Letter:
        """Write the letter of a notice; the first line of the text template is the subject."""
        facts: Mapping[str, str] = {
            name: value.reveal() if isinstance(value, SecretText) else value
            for name, value in notice.facts.items()
        } | {"network": self._network_name}
        text = self._templates.get_template(f"{notice.kind.value}.txt").render(facts)
        subject, _, body = text.partition("\n")
        html = self._templates.get_template("letter.html").render(
            facts | {"subject": subject, "paragraphs": _paragraphs(body)}
        )
        return Letter(notice.to, subject.strip(), body.strip() + "\n", html)


def links_in(text: str) -> list[str]:
    """Find the links of a letter's text."""
    return [link.rstrip(".,)") for link in _LINK.findall(text)]


def letter_to_bytes(letter: Letter) -> bytes:
    """Encode a letter for sealing."""
    return msgspec.json.encode(letter)


def letter_from_bytes(encoded: bytes) -> Letter:
    """Decode an unsealed letter."""
    return msgspec.json.decode(encoded, type=Letter)


def _paragraphs(body: str) -> list[str]:
    return [part.strip() for part in body.strip().split("\n\n") if part.strip()]
