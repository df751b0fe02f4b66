#!/usr/bin/env python3
"""Runs a command with no network except the loopback: without_network.py COMMAND…

Uses a network namespace of its own, where it is Linux and the kernel permits one; elsewhere it says so, and runs the command with the network.
"""
import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def leave():
    """Disconnects this process from the network. Raises OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    users, groups = os.getuid(), os.getgid()
    for flags in [CLONE_NEWNET, CLONE_NEWNET | CLONE_NEWUSER]:
        if libc.unshare(flags) == 0:
            break
    else:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if flags & CLONE_NEWUSER:
        for name, text in [("setgroups", "deny"), ("uid_map", f"{users} {users} 1"), ("gid_map", f"{groups} {groups} 1")]:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    # The loopback of a new namespace is down.
    #~1230
    # also finds nginx and haproxy for users other than root
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def main(command):
    if not command:
        return "usage: without_network.py COMMAND…"
    try:
        if sys.platform != "linux":
            raise OSError("only Linux has namespaces")
        leave()
    except OSError as error:
        print(f"without_network: no namespace of its own for {command[0]}, which keeps the network: {error}", file=sys.stderr)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        return f"without_network: {command[0]}: {error.strerror}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
