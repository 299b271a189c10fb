"""Catalogues: complete, up to date, and refused where a page could not show them."""

from pathlib import Path

import pytest
from tests.support.documents.blocks import blocks_of

from mudra.localization.catalogue import CatalogueError, message_ids, read_catalogue
from mudra.localization.languages import LOCALES, TEMPLATE, Languages

HINDI = LOCALES / "hi" / "LC_MESSAGES" / "mudra.po"
HEADER = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'


def own(tmp_path: Path, text: str, name: str = "ta.po", header: str = HEADER) -> Path:
    path = tmp_path / name
    path.write_text(header + text)
    return path


def test_hindi_has_every_message_and_its_placeholders():
    assert message_ids(TEMPLATE) - read_catalogue(HINDI, "hi").messages == set()
    assert Languages().missing()["hi"] == 0


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ('msgid "%(a)s of"\nmsgstr "%(b)s"', r"ta.po:4: '%\(a\)s of' has no value %\(b\)s"),
        ('msgid "%(a)s of"\nmsgstr "of"', r"ta.po:4: the translation .* lacks %\(a\)s"),
        ('msgid "part"\nmsgstr "100 % part"', "ta.po:4: .* neither %%"),
        ('msgid "%(a)s"\nmsgstr "%(a)99999999s"', "ta.po:4: .* neither %%"),
        ('msgid "one line"\nmsgstr "one\\ntwo"', "ta.po:4: 'one line' has one line"),
        ('msgid "bell"\nmsgstr "be\x07ll"', "ta.po:4: .* control character"),
        (
            'msgid "%(num)s day"\nmsgid_plural "%(num)s days"\nmsgstr[0] "%(nmu)s"\nmsgstr[1] "x"',
            r"ta.po:4: '%\(num\)s day' has no value %\(nmu\)s",
        ),
        ('msgid "a"\nmsgstr "b"\nnonsense\n', "ta.po:6: "),
    ],
)
def test_a_wrong_catalogue_is_refused_with_its_file_and_line(
    tmp_path: Path, entry: str, fault: str
):
    own(tmp_path, entry)

    with pytest.raises(CatalogueError, match=fault):
        Languages(tmp_path).check()


def test_the_mistake_of_the_guide_is_reported_as_it_shows(tmp_path: Path):
    (shown,) = (
        block.body.strip()
        for block in blocks_of("docs/how-to/add-a-language.md")
        if block.kind == "text"
    )
    own(tmp_path, 'msgid "Page %(page)s of %(pages)s"\nmsgstr "%(seite)s"')

    with pytest.raises(CatalogueError) as refused:
        Languages(tmp_path).check()

    there = shown.replace("/etc/mudra/locales", str(tmp_path)).replace(":17:", ":4:")
    assert str(refused.value) == there


def test_a_file_that_is_no_catalogue_is_refused(tmp_path: Path):
    for name, body in (("notes.txt", b"x"), ("zz.po", b""), ("en.po", b""), ("ta.po", b"\n\xff")):
        path = tmp_path / name
        path.write_bytes(body)
        with pytest.raises(CatalogueError, match=name):
            Languages(tmp_path).check()
        path.unlink()
    with pytest.raises(CatalogueError, match="there is no directory"):
        Languages(tmp_path / "missing").check()
    with pytest.raises(CatalogueError, match="no language fr; there are en, en-IN, hi"):
        Languages(default="fr").check()


def test_plural_forms_are_no_program(tmp_path: Path):
    header = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=__import__(1);\\n"\n'
    own(tmp_path, '\nmsgid "a"\nmsgstr "b"\n', header=header)

    with pytest.raises(CatalogueError, match=r"ta\.po"):
        Languages(tmp_path).check()


def test_an_operator_adds_a_language_and_replaces_a_message(tmp_path: Path):
    own(tmp_path, 'msgid "Status"\nmsgstr "நிலை"')
    own(tmp_path, 'msgid "Status"\nmsgstr "हाल"', "hi.po")
    languages = Languages(tmp_path, "ta")
    languages.check()

    tamil, hindi = languages.find("ta"), languages.find("hi")
    assert [one.name for one in languages.choices] == ["English", "हिन्दी", "தமிழ்"]
    assert languages.default is tamil
    assert tamil.translate("Status") == "நிலை"
    assert tamil.translate("Calls") == "Calls"  # what it lacks is in English
    assert (hindi.translate("Status"), hindi.translate("Calls")) == ("हाल", "कॉल")
    assert languages.missing() == {"hi": 0, "ta": len(message_ids(TEMPLATE)) - 1}
