"""Passkeys (WebAuthn): registered by a person, used to sign in and to confirm serious acts.

Never reads a signature itself: `PasskeyVerifier` does. Never begins a session.
"""
