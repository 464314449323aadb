# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: changes the host and the domain name
# matters: in a shared UTS namespace that would be the node's
# expect: EPERM
from attempt import each, syscall

each({
    "the host name": lambda: syscall("sethostname", b"owned", 5),
    "the domain name": lambda: syscall("setdomainname", b"owned", 5),
})
