"""Pages without a session: sign-in, activation, public status.

Never shows anything that is not public.
"""
