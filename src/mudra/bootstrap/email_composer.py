"""The composer of emails, as the settings want it."""

from mudra.bootstrap.console_address import console_address
from mudra.localization.languages import Languages
from mudra.mail.compose import EmailComposer
from mudra.settings.settings import Settings


def email_composer(settings: Settings, languages: Languages) -> EmailComposer:
    """Return it; its emails name the network and link to its console."""
    return EmailComposer(
        settings.network_name,
        settings.mail_templates,
        settings.contact,
        languages,
        console_address(settings),
        settings.time_zone,
    )
