"""Leads the HTTP clients of this process through a session, and refuses connections that go round it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import urllib.request

PROXY_NAMES = ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy")


class BypassError(OSError):
    """A connection that would go round the recorder."""


class Clients:
    """The changes of one test to this process; `undo` takes all of them back."""

    def __init__(self):
        self._undo = []

    def lead(self, environment: dict[str, str]) -> None:
        """Sets the variables that clients read, and helps those that read none or too early."""
        for name, value in {**environment, "no_proxy": "", "NO_PROXY": "", "grpc_proxy": environment["http_proxy"]}.items():
            self._set_variable(name, value)
        # urllib keeps the opener of its first use, with the proxy of another test.
        urllib.request.install_opener(None)
        if _has("aiohttp"):
            self._patch(importlib.import_module("aiohttp").ClientSession, "__init__", _trusting_environment)

    def block(self, own: list[str], allowed: list[str]) -> None:
        """Refuses every connection that is not to the server's own addresses, of a Unix socket, or to an allowed `host` or `host:port`.

        Sees what uses Python's sockets: not grpcio and pycurl, which have their own.
        """

        def check(address):
            if not isinstance(address, tuple) or address[0] in allowed or f"{address[0]}:{address[1]}" in (*own, *allowed):
                return
            raise BypassError(
                f"a connection to {address[0]}:{address[1]} goes round wiretape: give the client the proxy (session.proxy, "
                f'http_proxy), or allow it with wiretape_allowed_hosts = "{address[0]}"')

        def guard(original):
            def connect(self, address):
                check(address)
                return original(self, address)

            return connect

        for name in ("connect", "connect_ex"):
            self._patch(socket.socket, name, guard)

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()
        urllib.request.install_opener(None)

    def _set_variable(self, name: str, value: str) -> None:
        old = os.environ.get(name)
        os.environ[name] = value
        self._undo.append(lambda: os.environ.pop(name, None) if old is None else os.environ.__setitem__(name, old))

    def _patch(self, owner, name: str, wrap) -> None:
        own = name in vars(owner)
        original = getattr(owner, name)
        setattr(owner, name, wrap(original))
        self._undo.append(lambda: setattr(owner, name, original) if own else delattr(owner, name))


def set_trust(bundle: str, environment: dict[str, str]) -> None:
    """Names the roots for the whole process: aiohttp and grpcio read them when they are imported."""
    for name, value in environment.items():
        if value == bundle:
            os.environ[name] = value


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _trusting_environment(original):
    """aiohttp goes round the proxies of the environment unless it is told to trust it."""

    def init(self, *args, **options):
        options.setdefault("trust_env", True)
        original(self, *args, **options)

    return init
