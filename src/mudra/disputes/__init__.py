"""The right of reply: members' comments and disputes, their evidence, decisions, corrections.

Never changes a figure: what a decision leaves out is stored as a correction, and the areas that
compute figures apply it and say so.
"""
