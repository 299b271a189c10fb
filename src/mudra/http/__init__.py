"""The HTTP edge: parse, call one use case, render.

errors.py is the only table from error to status; intake.py the only reader of
request bodies. Never decides and never sees SQL.
"""
