"""People: the designated admins of members, and the operator's staff.

Owns users, passwords, email links, sign-in and its throttle, onboarding.
Never touches entity secrets (see tokens), HTTP or SQL: ports.py says what it asks.
"""
