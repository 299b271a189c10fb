"""One call of the OpenAPI document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Mapping[str, Any]
_NEEDS: Final = "\n\nNeeds: "
_OF_OAUTH: Final = re.compile(r"/iam/oauth2/.+")


@dataclass(frozen=True)
class Call:
    """One operation of the document."""

    method: str
    path: str
    operation: Json

    @property
    def summary(self) -> str:
        """Its purpose, in the words of a person who looks for it."""
        return str(self.operation["summary"])

    @property
    def about(self) -> str:
        """Its effect."""
        return self._texts()[0]

    @property
    def needs(self) -> str:
        """The token that it takes, in words."""
        if self.is_oauth:
            more = "" if self.gives_entity_token else ", or an Entity Access Token of it"
            return f"the entity's credentials in the request{more}"
        return self._texts()[1].strip().rstrip(".") or "no token"

    @property
    def is_oauth(self) -> bool:
        """Returns whether the caller authenticates as a client of OAuth."""
        return _OF_OAUTH.fullmatch(self.path) is not None

    @property
    def gives_entity_token(self) -> bool:
        """Returns whether it answers with an Entity Access Token, which a proof can bind."""
        return re.fullmatch(r"/iam/(oauth2/token|v1/entity/token/generate)", self.path) is not None

    def _texts(self) -> tuple[str, str]:
        text = str(self.operation.get("description") or self.summary)
        about, _, needs = text.partition(_NEEDS)
        return about, needs
