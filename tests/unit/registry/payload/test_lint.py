import json

from tests.support.registry.registry_payloads import aa, fip, fiu, jwk, older

from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.lint import LintReport, lint
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.finding import Severity


def linted(document: object, **options) -> LintReport:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return lint(data, json.loads, AddressPolicy(), shipped_vocabulary(), **options)


def test_a_good_file_passes():
    assert linted(fip()) == LintReport(1, ())
    assert linted([fip(), fiu(), aa()]).passes
    assert linted([fip(), fiu(), aa()]).payloads == 3


def test_notes_do_not_fail_a_file():
    report = linted(fip(fitypes=["TERM-DEPOSIT"]))

    assert report.passes
    assert [one.severity for one in report.findings] == [Severity.NOTE]


def test_all_findings_of_all_payloads_are_shown_with_their_place():
    report = linted([fip(name=""), fiu(), aa(entityhandle="", ips=[])])

    assert not report.passes
    assert [one.path for one in report.findings] == [
        "$[0].entityinfo.name",
        "$[2].entityinfo.entityhandle",
        "$[2].entityinfo.ips",
    ]


def test_what_must_be_unique_is_looked_for_within_the_file():
    report = linted(
        [fip(), fip(1, id="FIP-0"), aa(), aa(1, entityhandle="@Aa0"), fiu(certificate=jwk(0))]
    )

    assert {(one.path, one.problem) for one in report.findings} == {
        ("$[1].entityinfo.id", "is the same as in $[0]"),
        ("$[3].entityinfo.entityhandle", "is the same as in $[2]"),
        ("$[4].entityinfo.certificate.kid", "is the same as in $[0]"),
        ("$[4].entityinfo.certificate.n", "is the same as in $[0]"),
    }


def test_what_is_no_json_is_one_finding():
    report = linted(b"{")

    assert report.payloads == 0
    assert report.findings[0].sentence().startswith("$ is not JSON: Expecting")


def test_an_empty_array_does_not_pass():
    assert not linted([]).passes


def test_a_published_directory_passes_when_read_as_older_entries():
    published = [older(fip()), older(fiu()), older(aa())]

    assert linted(published, older=True).passes
    assert not linted(published).passes
