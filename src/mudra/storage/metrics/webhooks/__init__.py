"""Events of webhooks that are over, kept to be sent again. Never those of the public."""
