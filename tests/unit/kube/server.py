# SPDX-License-Identifier: Apache-2.0
"""HTTPS servers on loopback that answer from scripts, for the tests of common/kube.

    server.py DIRECTORY

Every line of standard input is the script of another server, whose port is printed in a line
"port NUMBER". A script is a JSON list of steps. A request takes the first step that isn't used up
and whose "match" (a substring of "METHOD path") fits; without one it is answered with 503. A step
is

    sticky    it is never used up
    status    200
    headers   {}
    body      text or an object: sent whole, with a Content-Length, "times" times; or
    chunks    a list, each sent at once: text, an object (a JSON line), {"repeat": "x", "count": n},
              or {"sleep": seconds}
    then      after the chunks: "end" (default), "break" (the connection is closed in the middle),
              "hold" (nothing more is said until the client goes away)
    delay     seconds before the answer

"$INSTANCE" in a body or chunk stands for the value of the last "instance" in a request's body, so
that a script can know what its client has drawn at random.

Every request is printed in a line: the server's port, and as a JSON list the number of its
connection, method, path, Authorization, Content-Type, Accept and body. DIRECTORY gets the
certificates of two authorities (ca.pem, other.pem); the servers' is of the first, for 127.0.0.1
and kube.test.
"""

import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time

CONF = """[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical,CA:TRUE
[leaf]
subjectAltName = IP:127.0.0.1,DNS:kube.test
"""


def make_certificates(directory):
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, cwd=directory, capture_output=True)

    with open(os.path.join(directory, "conf"), "w", encoding="utf-8") as conf:
        conf.write(CONF)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ("ca", "other"):
        openssl("req", "-x509", "-config", "conf", "-extensions", "ca", "-subj", f"/CN={name}",
                "-days", "2", *key, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", "-new", "-config", "conf", "-subj", "/CN=server", *key, "-keyout", "server.key",
            "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2",
            "-CAcreateserial", "-extfile", "conf", "-extensions", "leaf", "-out", "server.pem")


INSTANCE = re.compile(r'"instance": ?"([^"]+)"')
OUTPUT = threading.Lock()


def say(line):
    with OUTPUT:
        print(line, flush=True)


class Script:
    def __init__(self, steps):
        self.steps = steps
        self.lock = threading.Lock()
        self.connections = 0
        self.instance = ""

    def take(self, request, body):
        with self.lock:
            found = INSTANCE.search(body)
            if found:
                self.instance = found.group(1)
            for step in self.steps:
                if step.get("match", "") in request and not step.get("used"):
                    step["used"] = not step.get("sticky")
                    return step
        return {"status": 503, "body": "no step fits"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.script = self.server.script
        with self.script.lock:
            self.script.connections += 1
            self.number = self.script.connections
        super().setup()

    def log_message(self, *args):
        pass

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        headers = [self.headers.get(name, "")
                   for name in ("Authorization", "Content-Type", "Accept")]
        say(f"{self.server.server_port} "
            + json.dumps([self.number, self.command, self.path, *headers, body]))
        step = self.script.take(f"{self.command} {self.path}", body)
        time.sleep(step.get("delay", 0))
        self.send_response(step.get("status", 200))
        for name, value in step.get("headers", {}).items():
            self.send_header(name, value)
        if "chunks" in step:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.send_chunks(step)
            return
        content = step.get("body", "")
        content = (content if isinstance(content, str) else json.dumps(content))
        content = content.replace("$INSTANCE", self.script.instance).encode()
        content *= step.get("times", 1)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_chunks(self, step):
        for chunk in step["chunks"]:
            if isinstance(chunk, dict) and "sleep" in chunk:
                time.sleep(chunk["sleep"])
                continue
            if isinstance(chunk, dict) and "repeat" in chunk:
                content = (chunk["repeat"] * chunk["count"]).encode()
            elif isinstance(chunk, str):
                # One character is one byte, so that a script can cut a character in two.
                content = chunk.encode("latin-1")
            else:
                content = json.dumps(chunk).replace("$INSTANCE", self.script.instance)
                content = content.encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            self.wfile.flush()
        then = step.get("then", "end")
        if then == "end":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if then == "hold":
            # A client that goes away makes this return.
            self.connection.settimeout(60)
            self.rfile.read(1)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that breaks off is part of many scripts."""


def main():
    directory = sys.argv[1]
    make_certificates(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "server.pem"),
                            os.path.join(directory, "server.key"))
    for line in sys.stdin:
        server = Server(("127.0.0.1", 0), Handler)
        server.script = Script(json.loads(line))
        # The handshake is made by the connection's own thread, at its first read.
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        say(f"port {server.server_port}")


if __name__ == "__main__":
    main()
