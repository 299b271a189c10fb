"""Starts the service: settings, clock, logging, telemetry, wiring, processes.

`wiring.py` is the one module that knows every adapter. Never holds a rule of the business.
"""
