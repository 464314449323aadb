# SPDX-License-Identifier: Apache-2.0
"""What is between a client and a server on this machine, and can be cut."""

import socket
import threading

from helpers.cluster import reach_by


class Cable:
    """Cut, it lets nothing through and tells nobody. port is the server's."""

    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.open = threading.Event()
        self.open.set()
        self.earlier = []  # what connections that are older than a mending wait for
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def own_port(self):
        return self.listener.getsockname()[1]

    def carry(self, kubeconfig, server):
        """Has whoever uses this kubeconfig reach server through here."""
        reach_by(kubeconfig, server, "127.0.0.1", self.own_port)

    def cut(self):
        self.open.clear()

    def mend(self):
        for earlier in [*self.earlier, self.open]:
            earlier.set()
        self.earlier.clear()

    def mend_for_new(self):
        """What is under way stays cut until mend(): as a network does that comes back, where each
        connection waits for its own next attempt."""
        self.earlier.append(self.open)
        self.open = threading.Event()
        self.open.set()

    def close(self):
        self.mend()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(*pair, self.open), daemon=True).start()

    def _pass_on(self, source, target, is_open):
        try:
            while part := source.recv(65536):
                is_open.wait()
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            target.close()
