"""Health of FIPs, AAs and APIs, and the feeds that show it.

Never decides whether an incident opens (see detection).
"""
