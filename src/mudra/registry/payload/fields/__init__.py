"""The rules of single fields: certificate, addresses, lengths, time.

Never checks a payload as a whole: that is `validation.py` one level up.
"""
