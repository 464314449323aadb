# SPDX-License-Identifier: Apache-2.0
"""A node that can be cut off from the API server while it goes on."""

from helpers.cable import Cable
from helpers.cluster import Node


class CabledNode(Node):
    def __init__(self, cluster, name):
        super().__init__(cluster, name)
        self.cable = Cable(cluster.plane.port)
        self.cable.carry(self.kubeconfig, cluster.plane.server)

    def stop(self):
        self.cable.mend()
        super().stop()
        self.cable.close()
