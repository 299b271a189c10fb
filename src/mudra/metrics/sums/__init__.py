"""Sums of metrics as columns of numbers: cells, their addition, and their form as bytes.

Never reads SQL or a clock.
"""
