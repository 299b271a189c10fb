"""The token service (spec 4.1 to 4.4), OAuth 2 and the published keys.

Never checks a secret itself (see mudra.tokens.authentication).
"""
