"""Sums of blocks: how they are made, made again, settled and recounted.

Never answers a question of a page.
"""
