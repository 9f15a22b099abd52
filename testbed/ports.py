"""Loopback ports out, each kept for the program that will listen on it."""

import socket


def reserve() -> socket.socket:
    """A bound, silent socket: while it is open nobody is given its port, yet a program that names the port may listen.

    Linux lets a second socket bind when both set SO_REUSEADDR (Go's listeners do) and none listens yet.
    """
    kept = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    return kept


def number(kept: socket.socket) -> int:
    """The port of a kept socket."""
    return int(kept.getsockname()[1])
