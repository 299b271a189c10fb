"""What needs attention: for operators, for members and for the public.

Reads what the other areas decided and orders it by urgency. Never changes anything.
"""
