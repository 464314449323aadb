# SPDX-License-Identifier: Apache-2.0
"""Requests to the API server without kubectl between: hundreds a second, with the bare answer.

    api = RawApi(plane)                      # as admin
    answer = api.post("/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns", document)
    answer.status, answer.body, answer.message
"""

import base64
import copy
import http.client
import json
import os
import ssl
import tempfile
import urllib.parse

MERGE_PATCH = "application/merge-patch+json"


def encoded(body):
    """UTF-8 as it is: escapes would make a request of 1 MiB longer than the server takes."""
    return json.dumps(body, ensure_ascii=False).encode()


class Answer:
    def __init__(self, status, text, headers, streamed=False):
        self.status = status
        self.headers = headers
        # What is turned away before anybody looked at it, with 429, is told in plain text.
        self.text = text.decode(errors="replace")
        is_json = headers.get_content_type() == "application/json"
        self.body = json.loads(text) if text and is_json and not streamed else None

    @property
    def accepted(self):
        return 200 <= self.status < 300

    @property
    def message(self):
        """What the API server has to say about a refusal."""
        return "" if self.accepted else str((self.body or {}).get("message", self.text))


class RawApi:
    """One connection, kept; as one user of the control plane."""

    def __init__(self, plane, user="admin", timeout_s=60):
        self.timeout_s = timeout_s
        view = plane.kubectl("config", "view", "--raw", "-o", "json", user=user)
        config = json.loads(view.stdout)
        self.headers = {"Accept": "application/json"}
        self.context = ssl.create_default_context(cafile=plane.ca_file)
        self._authenticate(config["users"][0]["user"])
        self.address = urllib.parse.urlsplit(plane.server)
        self.connection = None

    def _authenticate(self, user):
        if "token" in user:
            self.headers["Authorization"] = f"Bearer {user['token']}"
            return
        with tempfile.TemporaryDirectory() as directory:
            paths = []
            for field in ("client-certificate-data", "client-key-data"):
                path = os.path.join(directory, field)
                with open(path, "wb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
                    file.write(base64.b64decode(user[field]))
                paths.append(path)
            self.context.load_cert_chain(*paths)

    def another(self):
        """A connection of its own for the same user, without asking for its credentials again."""
        other = copy.copy(self)
        other.connection = None
        return other

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def request(self, method, path, body=None, content_type="application/json", **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                self.address.hostname, self.address.port, timeout=self.timeout_s,
                context=self.context)
        data = body if body is None or isinstance(body, bytes) else encoded(body)
        headers = dict(self.headers, **({"Content-Type": content_type} if data else {}))
        self.connection.request(method, path, data, headers)
        response = self.connection.getresponse()
        return Answer(response.status, response.read(), response.headers,
                      streamed="watch" in query and response.status == 200)

    def history(self, collection, since):
        """The events of all that was written to a collection after the resourceVersion since."""
        answer = self.get(collection, watch=1, resourceVersion=since, timeoutSeconds=1)
        if not answer.accepted:
            raise AssertionError(f"no history of {collection}: {answer.message}")
        return [json.loads(line) for line in answer.text.splitlines()]

    def get(self, path, **query):
        return self.request("GET", path, **query)

    def post(self, path, body, **query):
        return self.request("POST", path, body, **query)

    def put(self, path, body, **query):
        return self.request("PUT", path, body, **query)

    def patch(self, path, body, **query):
        return self.request("PATCH", path, body, MERGE_PATCH, **query)

    def delete(self, path):
        return self.request("DELETE", path)
