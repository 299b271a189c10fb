"""User accounts: email addresses, passwords, one-use links, account changes.

Never decides about sign-in attempts (see sign_in) or about who is admin of what (see memberships).
"""
