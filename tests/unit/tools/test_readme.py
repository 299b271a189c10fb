"""The README's example verifies a token whole."""

from pathlib import Path

from mudra.settings.settings import Settings

README = (Path(__file__).parents[3] / "README.md").read_text()


def test_the_example_checks_algorithm_issuer_and_audience() -> None:
    """T1: a library checks only what it is given."""
    assert "verify_aud" not in README
    assert f'network = "{Settings().token_audience}"' in README
    assert 'algorithms=["RS256"], issuer=issuer, audience=network, leeway=60)' in README
