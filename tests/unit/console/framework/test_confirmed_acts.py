"""The page that asks for a password says what it confirms."""

import pytest

from mudra.console.framework.session.identity_proof import confirmed_act


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("operator/people", {"email": "mira@n.example", "audit": "on"},
         "Operator mira@n.example: scopes audit."),
        ("operator/people", {"email": "mira@n.example"}, "Operator mira@n.example: scopes none."),
        ("operator/members/K-FIP/status", {"status": "suspended", "entity": "OTHER"},
         "Change whether K-FIP gets tokens."),
        ("operator/webhooks", {"url": "https://a.example/x"},
         "Add the webhook https://a.example/x."),
        ("entity/K-FIP/people/remove", {"email": "asha@k.example"},
         "Change the people of K-FIP: asha@k.example."),
        ("account/second-factor/passkey/remove", {}, "Change your passkeys."),
        ("operator/of-a-later-version", {"email": "mira@n.example"}, ""),
    ],
)  # fmt: skip
def test_the_act_is_named_by_its_address_and_fields(
    path: str, fields: dict[str, str], said: str
) -> None:
    assert confirmed_act(f"/console/{path}", fields) == said


def test_what_was_typed_is_shown_in_part_and_as_it_is() -> None:
    said = confirmed_act("/console/operator/webhooks", {"url": "https://a.example/%s" + "x" * 900})

    assert said.startswith("Add the webhook https://a.example/%sx")
    assert len(said) < 250
