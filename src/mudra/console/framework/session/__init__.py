"""The person who is signed in: the session's cookie, protection of forms, the sign-in form.

Never checks a password itself.
"""
