import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from joserfc import jws
from joserfc.jwk import RSAKey
from tests.support.registry.registry_payloads import fip, jwk

from mudra.registry.payload.fields.certificate import Algorithm, key_facts
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.new_jwk import new_key
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import (
    Addition,
    VocabularyKind,
    check_addition,
    parse_vocabulary,
    shipped_vocabulary,
)


@pytest.fixture(scope="module")
def made():
    return new_key()


def test_a_new_key_is_ready_for_the_payload(made):
    sent = fip(certificate=msgspec.to_builtins(made.public))

    result = check_payload(sent, AddressPolicy(), shipped_vocabulary())

    assert isinstance(result, CheckedPayload)
    assert result.key.kid == result.key.thumbprint
    assert result.key.bits == 2048


def test_the_private_parts_of_a_new_key_sign_for_its_public_part(made):
    public = RSAKey.import_key(msgspec.to_builtins(made.public))
    private = RSAKey.import_key(msgspec.json.decode(made.private_jwk.reveal()))
    pem = load_pem_private_key(made.private_pem.reveal().encode(), None)

    token = jws.serialize_compact({"alg": "RS256"}, b"x", private)

    assert jws.deserialize_compact(token, public).payload == b"x"
    assert RSAKey.import_key(pem.public_key()).thumbprint() == public.thumbprint()


def test_a_new_key_never_shows_its_private_part(made):
    assert "d" not in msgspec.to_builtins(made.public)
    assert "***" in repr(made)
    assert "BEGIN" not in repr(made)


def test_a_new_key_takes_a_name_and_an_algorithm():
    made = new_key(2048, Algorithm.PS256, "key-1")

    assert (made.public.kid, made.public.alg) == ("key-1", "PS256")


@pytest.mark.parametrize("bits", [1024, 2047, 2049, 16384])
def test_a_size_that_the_registry_refuses_is_not_made(bits):
    with pytest.raises(ValueError, match="from 2048 to 8192"):
        new_key(bits)


def test_the_thumbprint_is_that_of_rfc_7638():
    # RFC 7638 section 3.1
    example = {
        "alg": "RS256",
        "kid": "2011-04-29",
        "kty": "RSA",
        "use": "sig",
        "e": "AQAB",
        "n": (
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECP"
            "ebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY3"
            "68QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4"
            "lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
        ),
    }
    result = check_payload(fip(certificate=example), AddressPolicy(), shipped_vocabulary())

    assert result.key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def test_the_modulus_distinguishes_keys_whatever_their_names():
    result = [
        check_payload(fip(certificate=jwk() | {"kid": kid}), AddressPolicy(), shipped_vocabulary())
        for kid in ("a", "b")
    ]

    assert result[0].key.modulus_hash == result[1].key.modulus_hash
    assert key_facts(result[0].entry.entityinfo.certificate).kid == "a"


def test_the_shipped_vocabulary_holds_the_words_of_the_decisions():
    words = shipped_vocabulary()

    assert len(words.fi_types.listed) == 22
    assert words.identifier_types.listed == (
        "MOBILE",
        "AADHAR",
        "EMAIL",
        "PAN",
        "DOB",
        "ACCNO",
        "CRN",
        "PPAN",
        "OTHERS",
    )


def test_an_operator_extends_the_vocabulary():
    words = shipped_vocabulary().extended(
        [
            Addition(VocabularyKind.FI_TYPE, "GOLD_BONDS", ("SGB",)),
            Addition(VocabularyKind.IDENTIFIER_TYPE, "PASSPORT"),
            Addition(VocabularyKind.FI_TYPE, "DEPOSIT", ("FD",)),
        ]
    )

    assert words.fi_types.read("gold-bonds") == "GOLD_BONDS"
    assert words.fi_types.read("sgb") == "GOLD_BONDS"
    assert words.fi_types.read("FD") == "DEPOSIT"
    assert words.identifier_types.read("passport") == "PASSPORT"
    assert words.fi_types.listed.count("DEPOSIT") == 1
    assert shipped_vocabulary().fi_types.read("SGB") == ""


@pytest.mark.parametrize(
    ("addition", "paths"),
    [
        (Addition(VocabularyKind.FI_TYPE, "GOLD"), []),
        (Addition(VocabularyKind.FI_TYPE, "GOLD", group="gold-loans"), []),
        (Addition(VocabularyKind.FI_TYPE, "GOLD", group="Gold loans"), ["$.group"]),
        (Addition(VocabularyKind.IDENTIFIER_TYPE, "GOLD", group="funds"), ["$.group"]),
        (Addition(VocabularyKind.FI_TYPE, "gold"), ["$.word"]),
        (Addition(VocabularyKind.FI_TYPE, "term-deposit"), ["$.word", "$.word"]),
        (
            Addition(VocabularyKind.FI_TYPE, "GOLD", ("SIP", "SGB", "etf")),
            ["$.variants[0]", "$.variants[2]"],
        ),
    ],
)
def test_an_addition_is_judged_before_it_is_made(addition, paths):
    assert [one.path for one in check_addition(shipped_vocabulary(), addition)] == paths


def test_a_broken_vocabulary_file_is_refused():
    with pytest.raises(msgspec.ValidationError):
        parse_vocabulary(b'{"fitypes": ["DEPOSIT"], "identifierTypes": {}}')


def test_each_shipped_fi_type_but_other_has_a_group_which_the_operator_may_change() -> None:
    shipped = shipped_vocabulary()
    ungrouped = set(shipped.fi_types.listed) - set(shipped.groups)

    grown = shipped.extended(
        [
            Addition(VocabularyKind.FI_TYPE, "GOLD_LOAN", (), "gold-loans"),
            Addition(VocabularyKind.FI_TYPE, "ETF", (), "securities"),
        ]
    )

    assert (ungrouped, set(shipped.groups) - set(shipped.fi_types.listed)) == ({"OTHER"}, set())
    assert shipped.groups_of(["ETF", "DEPOSIT", "TERM_DEPOSIT"]) == ("deposits", "funds")
    assert shipped.groups_of(["GOLD_LOAN"]) == ("other",)
    assert grown.groups_of(["ETF", "GOLD_LOAN"]) == ("gold-loans", "securities")
    assert grown.groups_of([]) == ()
