#!/usr/bin/env python3
"""Asks for one path on many streams at once, and lets the first have no more than its first window: h2_stalled.py PORT PATH STREAMS PROCESS.

Prints how many of the others came whole, their bytes, and the highest resident size of the process in KiB.
"""
import socket
import sys

import h2.connection
import h2.events

port, path, count, process = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
connection = h2.connection.H2Connection()
connection.initiate_connection()
# Of the connection, room for all, what the stalled stream holds included.
connection.increment_flow_control_window((1 << 30) - 1)
with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number in range(count):
        fields = [(":method", "GET"), (":scheme", "http"), (":authority", "127.0.0.1:%d" % port), (":path", path)]
        connection.send_headers(2 * number + 1, fields, end_stream=True)
        if number > 0:
            connection.increment_flow_control_window(1 << 24, 2 * number + 1)
    peer.sendall(connection.data_to_send())
    ended, octets, stalled = 0, 0, 0
    while ended < count - 1 or stalled < 65535:
        piece = peer.recv(1 << 16)
        if not piece:
            sys.exit("the connection ended after %d streams" % ended)
        for event in connection.receive_data(piece):
            if isinstance(event, h2.events.DataReceived):
                if event.stream_id == 1:
                    stalled += len(event.data)
                else:
                    octets += len(event.data)
            elif isinstance(event, h2.events.StreamEnded):
                ended += 1
                if event.stream_id == 1:
                    sys.exit("the stalled stream came whole")
            elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                sys.exit(repr(event))
        peer.sendall(connection.data_to_send())
    with open("/proc/%s/status" % process) as status:
        peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    print(ended, octets, peak)
