"""Members of the network, their admins and contacts, and how they are onboarded.

Never touches registry entries or entity secrets.
"""
