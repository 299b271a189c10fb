"""The acts on an account: its address, password, links, choices, rights and end.

Never decides about sign-in attempts (see sign_in).
"""
