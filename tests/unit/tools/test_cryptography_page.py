"""The inventory of cryptography names each use (ASVS 11.1.2)."""

import ast

from tools.cryptography_page import PAGE, _uses


def test_each_way_to_use_a_library_is_named() -> None:
    """K8: by import of a name, of a module, and under no other library's name."""
    code = (
        "import hashlib\nfrom cryptography.x import Y\nimport os\nhashlib.md5(b'')\nos.urandom(1)"
    )

    assert sorted(_uses(ast.parse(code))) == ["`cryptography.x.Y`", "`hashlib.md5`"]


def test_the_page_names_the_cipher_and_no_weak_hash() -> None:
    """K8: what is at rest is under AES-GCM; MD5 and SHA-1 are nowhere."""
    page = PAGE.read_text()

    assert "AESGCM" in page
    assert "md5" not in page.lower()
    assert "sha1`" not in page.lower()
