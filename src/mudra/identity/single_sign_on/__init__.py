"""Single sign-on of operators by OpenID Connect: whom a provider's claims sign in, and as what.

Never reads a token: `IdentityProvider` does, and gives claims that it has verified.
"""
