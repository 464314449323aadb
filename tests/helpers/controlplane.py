# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes API server on this machine, with kubectl and helm that speak to it.

    plane = ControlPlane("/tmp/x")
    plane.start()
    plane.kubectl("apply", "-f", "-", input=manifest)
    plane.kubectl("get", "nodes", user="alice", check=False).stderr
    plane.service_account_kubeconfig("sandboxrun-system/sandboxrun-agent", path, node="node-a")
    plane.stop()

The directory holds keys, data, kubeconfigs and controlplane.log. After stop() or kill() a start()
on the same directory serves the same objects at the same address. The server ends with this
process, however that ends. See tests/controlplane/README.md.
"""

import json
import os
import select
import shlex
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "tests/controlplane/build.sh")
BIN = os.environ.get("SANDBOXRUN_CONTROLPLANE_BIN", os.path.join(ROOT, "build/controlplane/bin"))
LOG_TAIL_BYTES = 4096


class ControlPlaneError(Exception):
    """Something of the control plane failed; the text says what, with the end of its log."""


def what_is_missing():
    """Those of the programs that aren't built, and what to do; None if all are there."""
    missing = [name for name in ("controlplane", "kubectl")
               if not os.access(os.path.join(BIN, name), os.X_OK)]
    return f"{' and '.join(missing)}: run {BUILD}" if missing else None


class Server:
    """A server of the control plane with a directory; it says when it is ready.

    name: what its errors and its log call it.
    inside: words before its command, such as those that enter a network namespace.
    """

    def __init__(self, directory, name, command, inside=()):
        self.dir = os.path.abspath(directory)
        os.makedirs(self.dir, exist_ok=True)
        self.name = name
        self.log_path = os.path.join(self.dir, f"{name}.log")
        self.command, self.inside = list(command), list(inside)
        self.child = None

    def launch(self, timeout):
        """Returns when the server is ready; what it has to say then."""
        if self.running():
            raise ControlPlaneError(f"{self.name} in {self.dir} is running already")
        if missing := what_is_missing():
            raise ControlPlaneError(f"{self.name} needs {missing}")
        reader, writer = os.pipe()
        try:
            with open(self.log_path, "ab") as log:
                # A session of its own: an interrupt at the terminal is for the tests, which then
                # end their processes in order. Its stdin ends with us.
                self.child = subprocess.Popen(
                    [*self.inside, self.program("controlplane"), *self.command, "--dir", self.dir,
                     "--ready-fd", str(writer), "--exit-with-stdin", *self.arguments()],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(writer,), cwd="/",
                    start_new_session=True)
            os.close(writer)
            writer = -1
            return self._read_ready(reader, timeout)
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)

    def arguments(self):
        return []

    def _read_ready(self, reader, timeout):
        """The server writes once and closes; without a word it has failed."""
        end = time.monotonic() + timeout
        content = b""
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([reader], [], [], left)[0]:
                self.kill()
                raise self._error(f"{self.name} is not ready after {timeout} s")
            part = os.read(reader, 65536)
            if part:
                content += part
                continue
            if content:
                return content
            status = self._reap(10)
            raise self._error(f"{self.name} ended with status {status} before it was ready")

    def running(self):
        return self.child is not None and self.child.poll() is None

    def stop(self, timeout=30):
        """Ends the server in order. Its directory stays, for a next start."""
        if self.child is None:
            return
        if self.running():
            self.child.terminate()
            self.resume()
        try:
            status = self._reap(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self._error(f"{self.name} has not ended within {timeout} s") from None
        if status != 0:
            raise self._error(f"{self.name} ended with status {status}")

    def kill(self):
        """Ends the server as a crash would: no request is finished, no connection is closed."""
        if self.child is not None:
            self.child.kill()
            self._reap(30)

    def pause(self):
        """The server stops answering but keeps its connections, until resume()."""
        self.child.send_signal(signal.SIGSTOP)

    def resume(self):
        self.child.send_signal(signal.SIGCONT)

    def _reap(self, timeout):
        status = self.child.wait(timeout)
        self.child.stdin.close()
        self.child = None
        return status

    @property
    def pid(self):
        return self.child.pid

    def program(self, name):
        return os.path.join(BIN, name)

    def log_tail(self):
        with open(self.log_path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - LOG_TAIL_BYTES))
            return log.read().decode(errors="replace")

    def _error(self, message):
        return ControlPlaneError(f"{message}\nThe end of {self.log_path}:\n{self.log_tail()}")


class Etcd(Server):
    """An etcd of its own, for a ControlPlane with args=["--etcd", url]; for whoever ends it by
    itself, or cuts it off. url: where it listens, without TLS. It has its data in the directory of
    the control plane."""

    def __init__(self, directory, url, inside=()):
        super().__init__(directory, "etcd", ("etcd", "--listen", url), inside)
        self.url = url

    def start(self, timeout=60):
        self.launch(timeout)


class ControlPlane(Server):
    """One API server with its own directory.

    audit: keep a record of every request, for audit_events().
    controllers: run those for namespaces, garbage, ClusterRole aggregation, service accounts.
    args: more flags of `controlplane start`; after "--", flags of kube-apiserver.
    """

    def __init__(self, directory, *, audit=False, controllers=True, args=()):
        super().__init__(directory, "controlplane", ("start",))
        self.args = [f"--audit={str(audit).lower()}",
                     f"--controllers={str(controllers).lower()}", *args]
        self.kubeconfigs = {}
        self.ready = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def start(self, timeout=60):
        """Returns when the server is ready; what `controlplane start` has published."""
        self.ready = json.loads(self.launch(timeout))
        self.kubeconfigs.update(self.ready["kubeconfigs"])
        return self.ready

    def arguments(self):
        return self.args

    # ---- what clients have to know

    @property
    def server(self):
        return self.ready["server"]

    @property
    def port(self):
        return self.ready["port"]

    @property
    def ca_file(self):
        return self.ready["caFile"]

    def kubeconfig(self, user="admin"):
        """The file of a user: admin, alice, or one made by the functions below."""
        try:
            return self.kubeconfigs[user]
        except KeyError:
            known = ", ".join(sorted(self.kubeconfigs))
            raise ControlPlaneError(f"no kubeconfig of {user!r}; there are: {known}") from None

    def user_kubeconfig(self, name, groups=(), path=None):
        """A new user with a client certificate and the groups given, and no rights but theirs."""
        path = path or os.path.join(self.dir, f"kubeconfig-{name}")
        flags = [flag for group in groups for flag in ("--group", group)]
        self._make_kubeconfig("--user", name, "--out", path, *flags)
        self.kubeconfigs[name] = path
        return path

    def service_account_kubeconfig(self, account, path=None, *, node=None, duration_s=None,
                                   token_file=None, in_cluster_dir=None):
        """A kubeconfig with a token for the service account "NAMESPACE/NAME", which must exist.

        node: bind the token to a Pod NAME-NODE on that Node (both are made), whose names it then
            carries; deleting the Pod makes the token worthless.
        duration_s: lifetime, 600 at least.
        token_file: keep the token there and not in the kubeconfig. Call again to renew it.
        in_cluster_dir: write token, ca.crt and namespace there too, as they are mounted in a Pod.
        """
        user = account.partition("/")[2] + (f"-{node}" if node else "")
        path = path or os.path.join(self.dir, f"kubeconfig-{user}")
        flags = ["--service-account", account, "--out", path]
        if node:
            flags += ["--node", node]
        if duration_s:
            flags += ["--duration", f"{duration_s}s"]
        if token_file:
            flags += ["--token-file", token_file]
        if in_cluster_dir:
            flags += ["--in-cluster-dir", in_cluster_dir]
        self._make_kubeconfig(*flags)
        self.kubeconfigs[user] = path
        return path

    def _make_kubeconfig(self, *args):
        self._run([self.program("controlplane"), "kubeconfig", "--dir", self.dir, *args])

    # ---- clients

    def kubectl(self, *args, user="admin", input=None, check=True, timeout=120,
                program="kubectl"):
        """Runs kubectl and returns the finished process with stdout and stderr as text."""
        return self._run([self.program(program), *args], user, input, check, timeout)

    def helm(self, *args, user="admin", input=None, check=True, timeout=120):
        return self._run([self.program("helm"), *args], user, input, check, timeout)

    def get(self, *args, user="admin"):
        """kubectl get, as the object or list that it prints."""
        return json.loads(self.kubectl("get", *args, "-o", "json", user=user).stdout)

    def environment(self, user="admin"):
        """The environment in which kubectl and helm speak to this server, and keep their files."""
        home = os.path.join(self.dir, "home")
        os.makedirs(home, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": home, "KUBECONFIG": self.kubeconfig(user)}

    def _run(self, argv, user="admin", input=None, check=True, timeout=120):
        try:
            done = subprocess.run(argv, input=input, text=True, capture_output=True,
                                  timeout=timeout, env=self.environment(user),
                                  stdin=subprocess.DEVNULL if input is None else None)
        except subprocess.TimeoutExpired:
            raise self._error(f"{shlex.join(argv)} has not ended within {timeout} s") from None
        if check and done.returncode != 0:
            raise ControlPlaneError(f"{shlex.join(argv)}, as {user}: exit status {done.returncode}"
                                    f"\n{done.stdout}{done.stderr}")
        return done

    # ---- what has happened

    def audit_events(self):
        """The requests so far, oldest first, as objects of audit.k8s.io/v1; needs audit=True."""
        with open(os.path.join(self.dir, "audit.log"), encoding="utf-8") as log:
            # The last line may be half written.
            return [json.loads(line) for line in log if line.endswith("\n")]
