# SPDX-License-Identifier: BSD-3-Clause
"""Speaks to rpma-perf as something else would.

impostor.py version N | text TEXT | close | garbage           a server; prints its port
impostor.py client PORT version N | text TEXT | garbage | requests
"""
import socket
import struct
import sys

TIME_LIMIT = 20
GREETING = b"RPMAPERF" + struct.pack(">I", 1)
BAD_REQUESTS = [b"", b"[]", b"null", b"{", b'{"do":1}', b'{"do":"close"}', b'{"do":"start"}', b'{"do":"nothing"}', b'{"do":"open"}',
                b'{"do":"open","case":{"api":"rpma","op":"read","flush":"visibility","size":18446744073709551615,"queue_depth":4294967295,'
                b'"batch":1,"connections":4294967295,"threads":1,"wait":"poll","verify":false}}']


def frame(payload):
    return struct.pack(">I", len(payload)) + payload


def say(connection, kind, *words):
    if kind == "version":
        connection.sendall(b"RPMAPERF" + struct.pack(">I", int(words[0])))
    elif kind == "text":
        connection.sendall(words[0].encode() + b"\n")
    elif kind == "garbage":
        connection.sendall(GREETING + b"\xff" * 64)
    if kind != "close":
        connection.settimeout(TIME_LIMIT)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))
    return b""


def serve(words):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        listener.settimeout(TIME_LIMIT)
        connection, _ = listener.accept()
        with connection:
            try:
                say(connection, *words)
            except OSError:  # the client has seen enough
                pass


def send_requests(port):
    """Each in a connection of its own: a message that is none ends it."""
    for request in BAD_REQUESTS:
        with socket.create_connection(("127.0.0.1", port), TIME_LIMIT) as connection:
            connection.sendall(GREETING + frame(request))
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(65536)
            assert answer.startswith(GREETING), answer


def main():
    if sys.argv[1] != "client":
        serve(sys.argv[1:])
    elif sys.argv[3] == "requests":
        send_requests(int(sys.argv[2]))
    else:
        with socket.create_connection(("127.0.0.1", int(sys.argv[2])), TIME_LIMIT) as connection:
            try:
                print(say(connection, *sys.argv[3:]))
            except OSError as error:  # it has closed the connection, which is right
                print(error)


if __name__ == "__main__":
    main()
