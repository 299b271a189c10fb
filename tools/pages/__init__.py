"""Generated pages of the reference, each from the code that it describes.

Never writes a file: `tools.reference` does, or compares.
"""
