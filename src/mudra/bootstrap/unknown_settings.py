"""Variables of the environment that look like settings, and are none."""

import difflib
from collections.abc import Mapping
from typing import Final

from mudra.bootstrap.config import REFERENCE
from mudra.shared.secret_text import twin
from mudra.storage.database.embedded.programs import SETTING as POSTGRES_BIN

OTHER_VARIABLES: Final = frozenset(
    {
        *("MUDRA_MASTER_KEY", "MUDRA_MASTER_KEY_COMMAND", "MUDRA_PASSWORD"),
        *(twin("MUDRA_MASTER_KEY"), twin("MUDRA_PASSWORD")),
        *(twin(setting.env) for setting in REFERENCE.values() if setting.secret),
        *("MUDRA_CONFIG_DIR", "MUDRA_PROFILE"),
        POSTGRES_BIN,
    }
)
"""Variables that other files read: key material never enters the settings object."""


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """Sentences about `MUDRA_…` variables that no setting reads: most likely typing errors."""
    known = {setting.env for setting in REFERENCE.values()} | OTHER_VARIABLES
    sentences = []
    for name in sorted(environment):
        if name.startswith("MUDRA_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            sentences.append(f"{name} is not a setting of Mudra{hint}")
    return sentences
