# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for tokens, kubeconfigs, cloud and registry credentials
# matters: the file that every exploit reads first
# expect: ENOENT
import os

from attempt import reading

reading("/var/run/secrets/kubernetes.io/serviceaccount/token",
        "/run/secrets/kubernetes.io/serviceaccount/token", "/root/.kube/config",
        "/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml", "/root/.docker/config.json",
        "/root/.aws/credentials", "/root/.ssh/id_ed25519", "/etc/shadow", "/root/.netrc",
        "/.dockerenv", "/run/.containerenv", os.path.expanduser("~root/.bash_history"))
