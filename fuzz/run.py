"""Run one target under atheris: python -m fuzz.run TARGET [libFuzzer's options].

The code is instrumented as it is imported, so that inputs that reach new branches are kept in
`.build/fuzz/TARGET`. Seeds are in `fuzz/seeds.py`.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["mudra", "fuzz"]):
    from fuzz.seeds import SEEDS
    from fuzz.targets import TARGETS


def main() -> None:
    """Fuzz until libFuzzer ends: at a fault with the input that leads to it."""
    name, *options = sys.argv[1:]
    corpus = Path(".build/fuzz") / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS.get(name, [])):
        (corpus / f"seed-{number}").write_bytes(seed)
    atheris.Setup(
        ["fuzz", *options, f"-artifact_prefix={corpus.parent}/fault-{name}-", str(corpus)],
        TARGETS[name],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
