"""The HTTP edge: parse, call one use case, render.

response/errors.py is the only table from a kind of refusal to a status;
request/body the only reader of bodies. Never decides and never sees SQL.
"""
