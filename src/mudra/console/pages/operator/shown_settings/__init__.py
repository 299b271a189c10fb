"""The page of the settings in force, and the areas that it and the reference group them by.

Never changes a setting.
"""
