"""Common passwords and keyboards, from the lists that the zxcvbn package carries.

Only its two data modules are loaded, once and at the first use: importing the
whole package would stop the event loop for 0.2 s and keep 14 MB for a scorer
that nothing here calls.
"""

import functools
from collections.abc import Mapping
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final, cast

_PACKAGE: Final = "zxcvbn"


@functools.cache
def common_texts(min_length: int) -> frozenset[str]:
    """All leaked passwords, dictionary words and names of at least this length, folded."""
    lists = cast("Mapping[str, list[str]]", _data("frequency_lists", "FREQUENCY_LISTS"))
    return frozenset(
        text.casefold() for words in lists.values() for text in words if len(text) >= min_length
    )


@functools.cache
def keyboard_neighbours() -> Mapping[str, frozenset[str]]:
    """For each key of a QWERTY keyboard and of a keypad, the keys that touch it, folded."""
    graphs = cast(
        "Mapping[str, Mapping[str, list[str | None]]]",
        _data("adjacency_graphs", "ADJACENCY_GRAPHS"),
    )
    touching: dict[str, set[str]] = {}
    for keyboard in ("qwerty", "keypad"):
        for key, neighbours in graphs[keyboard].items():
            # A neighbour is written as its key without and with shift: "2@", "qQ".
            keys = "".join(filter(None, neighbours)).casefold()
            touching.setdefault(key.casefold(), set()).update(keys)
    return {key: frozenset(keys) for key, keys in touching.items()}


def _data(module: str, name: str) -> object:
    package = find_spec(_PACKAGE)
    assert package is not None, "zxcvbn belongs to the extra `server`"
    assert package.submodule_search_locations, "zxcvbn is a package"
    path = Path(package.submodule_search_locations[0]) / f"{module}.py"
    spec = spec_from_file_location(f"_{_PACKAGE}_{module}", path)
    assert spec is not None, "a .py file always has a spec"
    assert spec.loader is not None, "a .py file always has a loader"
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return cast("object", getattr(loaded, name))
