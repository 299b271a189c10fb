"""Pictures that the service draws itself: lines of the public pages, and cards to be shared.

Draws what it is given; never reads a picture, a font or a file of anyone else.
"""
