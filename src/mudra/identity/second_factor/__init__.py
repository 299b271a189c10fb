"""A second factor at sign-in: codes of an authenticator app, and recovery codes.

Never checks a password, and never begins a session: it says whether a code was right.
"""
