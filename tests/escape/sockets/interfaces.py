# SPDX-License-Identifier: Apache-2.0
# family: sockets
# tries: looks for an interface besides the loopback, an address and a route
# matters: what is there can be used by whoever gets a socket
# expect: own only
# profile: Snippet
from attempt import refused, through

def lines(name):
    with open("/proc/self/net/" + name, encoding="ascii") as file:
        return file.read().splitlines()


names = [line.split(":")[0].strip() for line in lines("dev")[2:]]
if names != ["lo"]:
    through(f"{names}")
if lines("if_inet6") or lines("route")[1:] or "127.0.0.1" in "".join(lines("fib_trie")):
    through("the loopback is up, or there is a route")
refused("own only")
