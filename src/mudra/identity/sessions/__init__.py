"""Browser sessions of the console.

Never checks a password (see sign_in).
"""
