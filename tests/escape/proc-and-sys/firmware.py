# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: opens firmware tables and variables
# matters: writing them can break the machine for good
# expect: ENOENT
from attempt import reading

reading("/sys/firmware/acpi/tables/DSDT", "/sys/firmware/dmi/tables/DMI",
        "/sys/firmware/efi/efivars", "/sys/firmware/memmap/0/start")
