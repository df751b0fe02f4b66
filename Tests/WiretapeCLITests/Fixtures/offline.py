#!/usr/bin/env python3
"""Runs a program in a network namespace of its own that has loopback and nothing else: unshare --net offline.py COMMAND..."""
import errno
import fcntl
import os
import socket
import struct
import sys

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    request = struct.pack("16sh22x", b"lo", 0)
    (flags,) = struct.unpack_from("16xh", fcntl.ioctl(control, SIOCGIFFLAGS, request))
    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))

with socket.socket() as elsewhere:
    if elsewhere.connect_ex(("192.0.2.1", 443)) != errno.ENETUNREACH:
        sys.exit("offline: there is a route that leads out: start it with unshare --net")

os.execvp(sys.argv[1], sys.argv[1:])
