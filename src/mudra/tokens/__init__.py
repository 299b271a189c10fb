"""Credentials of members: entity secrets, access tokens, signing keys.

Owns the secret's life (spec 3), the reset rule (spec 8), claims, issuing and
checking. Never sends mail and never knows who a person is beyond a user ID
(see identity).
"""
