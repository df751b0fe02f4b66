"""Records and replays the HTTP traffic of tests with wiretape."""

from .serve import Server, ServerError, Session

__all__ = ["Server", "ServerError", "Session"]
