"""The reasons for which a node cannot have the address that it is to listen on."""


class CannotListen(Exception):
    """The address to listen on cannot be had: the text names it and the way out."""
