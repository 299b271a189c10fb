"""The languages of pages and emails: catalogues, which one is shown, numbers and dates.

Never holds a text of a page: those are in templates and code, in English.
"""
