# SPDX-License-Identifier: Apache-2.0
"""A node that can be cut off from the API server while it goes on."""

from helpers.cable import Cable
from helpers.cluster import Node, jails
from helpers.wait import wait_until


class CabledNode(Node):
    def __init__(self, cluster, name):
        super().__init__(cluster, name)
        self.cable = Cable(cluster.plane.port)
        self.cable.carry(self.kubeconfig, cluster.plane.server)

    def wait_result_is_kept(self, name, sandbox):
        """Until a run of the namespace default has ended, with the cable cut."""
        wait_until("its result to be in the spool", lambda: sandbox not in jails() and
                   f'"msg":"run finished","namespace":"default","run":"{name}"'
                   in self.agent.log())

    def stop(self):
        self.cable.mend()
        super().stop()
        self.cable.close()
