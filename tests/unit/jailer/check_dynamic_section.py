# SPDX-License-Identifier: Apache-2.0
"""Fails if the privileged program links any library but the C library and libmnl (or, in sanitizer
and coverage builds, the compiler's own).

    check_dynamic_section.py READELF PROGRAM
"""

import re
import subprocess
import sys

ALLOWED = re.compile(r"^(libc\.so|ld-linux|libmnl\.so|libm\.so|libgcc_s\.so|libasan\.so|libubsan\.so|libclang_rt)")


def main():
    readelf, program = sys.argv[1:]
    listing = subprocess.run([readelf, "-d", program], check=True, capture_output=True, text=True)
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", listing.stdout)
    if not needed:
        sys.exit(f"{program} names no library: is it the program?")
    wrong = [name for name in needed if not ALLOWED.match(name)]
    if wrong:
        sys.exit(f"{program} links {' '.join(wrong)}")
    print(f"{program} links {' '.join(needed)}")


main()
