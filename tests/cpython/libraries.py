# SPDX-License-Identifier: Apache-2.0
"""Uses numpy, pandas, matplotlib and requests as programs do, those of them that are there.

A program for a sandbox, and for trace.py. requests talks to a server of this very process, where
there are Internet sockets.
"""

import concurrent.futures
import http.server
import importlib.util
import io
import multiprocessing
import os
import sqlite3
import tempfile
import threading


def use_numpy(directory):
    import numpy

    random = numpy.random.default_rng(1)
    square = random.random((400, 400))
    assert numpy.allclose(numpy.linalg.inv(square) @ square, numpy.eye(400), atol=1e-6)
    numpy.linalg.svd(square)
    numpy.fft.fft2(square)
    numpy.sort(random.random(1_000_000))
    path = os.path.join(directory, "array.npy")
    numpy.save(path, square)
    mapped = numpy.load(path, mmap_mode="r+")
    mapped[0, 0] = 1
    mapped.flush()
    numpy.savez_compressed(os.path.join(directory, "arrays.npz"), a=square, b=square)
    numpy.savetxt(os.path.join(directory, "array.txt"), square)
    numpy.loadtxt(os.path.join(directory, "array.txt"))
    numpy.memmap(os.path.join(directory, "map"), dtype="float32", mode="w+", shape=(1000, 1000))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(numpy.linalg.norm, [square] * 8))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(numpy.sum, [square] * 4)


def use_pandas(directory):
    import pandas

    frame = pandas.DataFrame({"name": ["a", "b"] * 5000, "value": range(10000),
                              "time": pandas.date_range("2024-01-01", periods=10000, freq="h",
                                                        tz="Europe/Berlin")})
    frame.groupby("name")["value"].agg(["mean", "sum"])
    frame.merge(frame.head(100), on="value")
    frame.set_index("time")["value"].resample("D").sum().rolling(7).mean()
    path = os.path.join(directory, "frame")
    frame.to_csv(path + ".csv.gz")
    pandas.read_csv(path + ".csv.gz", parse_dates=["time"])
    frame.to_json(path + ".json", date_format="iso")
    frame.to_pickle(path + ".pickle")
    pandas.read_pickle(path + ".pickle")
    base = sqlite3.connect(path + ".db")
    frame.drop(columns="time").to_sql("t", base)
    pandas.read_sql("select sum(value) from t", base)
    frame.pivot_table("value", "name")
    frame.to_html(path + ".html", max_rows=100)


def use_matplotlib(directory):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.animation
    import matplotlib.pyplot

    figure, axes = matplotlib.pyplot.subplots(2, 2)
    axes[0, 0].plot(range(100), label="line")
    axes[0, 0].legend()
    axes[0, 1].hist(range(100))
    axes[1, 0].imshow([[1, 2], [3, 4]])
    axes[1, 1].text(0, 0.5, r"$\int_0^\infty e^{-x^2} dx$")
    for kind in ("png", "pdf", "svg", "jpg"):
        figure.savefig(os.path.join(directory, "figure." + kind))
    animation = matplotlib.animation.FuncAnimation(figure, lambda i: axes[0, 0].plot([i]), frames=3)
    animation.save(os.path.join(directory, "animation.gif"), writer="pillow")


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def use_requests(directory):
    import requests

    with requests.Session() as session:
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        except OSError as error:
            print("requests: no server:", error)
        else:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/"
            files = {"file": io.BytesIO(b"x" * 100_000)}
            assert b"xxx" in session.post(url, files=files, timeout=5).content
            assert session.post(url, json={"a": 1}, timeout=5).json() == {"a": 1}
            server.shutdown()
        # A name that nobody knows, and TLS with a server that isn't there.
        for url in ("https://nowhere.invalid/", "https://127.0.0.1:1/"):
            try:
                session.get(url, timeout=5)
                raise AssertionError(url)
            except requests.ConnectionError:
                pass


def main():
    for name, use in (("numpy", use_numpy), ("pandas", use_pandas),
                      ("matplotlib", use_matplotlib), ("requests", use_requests)):
        if importlib.util.find_spec(name) is None:
            print(name, "isn't there")
            continue
        with tempfile.TemporaryDirectory() as directory:
            use(directory)
        version = importlib.import_module(name).__version__
        print(name, version, "did what it should", flush=True)


if __name__ == "__main__":
    main()
