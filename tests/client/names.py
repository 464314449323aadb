# SPDX-License-Identifier: Apache-2.0
"""A network namespace with a name server in it: where the API server has a name that can move."""

import asyncio
import os
import socket
import threading

from helpers.internet_dns import build_answer, parse_question
from helpers.local import need_root
from helpers.netns import Namespace, join_network

# With a resolv.conf of its own, which only it and its children see.
ENTER = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
         'mount --bind "$0" /etc/resolv.conf && exec "$@"']


class Net:
    def __init__(self, day):
        need_root("to make network namespaces")
        self.namespace = Namespace()
        day.cleanups.append(self.close)
        self.namespace.ip("link set lo up\n")
        day.write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:8 attempts:2\n")
        self.prefix = self.namespace.enter(*ENTER, day.path("resolv.conf"))
        self.address = "127.0.0.2"  # of api.test; None: no answer
        self.questions = 0
        self.names = self.socket(socket.SOCK_DGRAM, "127.0.0.1", 53)
        self.names.setblocking(False)
        asyncio.get_running_loop().add_reader(self.names, self.answer)

    def socket(self, kind, host, port):
        """Sockets stay in the namespace in which they were made, whoever uses them."""
        made = []

        def make():
            fd = os.open(f"/proc/{self.namespace.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            try:
                join_network(fd)
                sock = socket.socket(socket.AF_INET, kind)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind((host, port))
                made.append(sock)
            finally:
                os.close(fd)

        # A thread has a namespace of its own.
        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made[0]

    def listener(self, host):
        """For the API server's port."""
        return self.socket(socket.SOCK_STREAM, host, 6443)

    def answer(self):
        packet, client = self.names.recvfrom(4096)
        number, name, kind, question, size = parse_question(packet)
        self.questions += 1
        if not self.address:
            return
        records = [[name, "A", 5, self.address]] if (name, kind) == ("api.test", "A") else []
        self.names.sendto(build_answer(number, question, {"records": records}, size), client)

    def close(self):
        asyncio.get_running_loop().remove_reader(self.names)
        self.names.close()
        self.namespace.close()
