"""OpenID Connect: asks one provider for the identity of an operator.

Never decides whom an identity signs in: identity/single_sign_on/ does.
"""
