"""A person's own account: password, sessions, admins, activity.

Never changes another person without a use case of mudra.identity.
"""
