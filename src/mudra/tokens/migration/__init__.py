"""Moving from another identity server: its members, secrets and public keys.

Never takes a private key over, and never changes a member that is there already.
"""
