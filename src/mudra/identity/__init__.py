"""People: the designated admins of members, and the operator's staff.

Owns users, passwords, email links, sign-in and its throttle, onboarding.
Never touches entity secrets (see tokens) or HTTP; only a file that is named …_store.py has SQL.
"""
