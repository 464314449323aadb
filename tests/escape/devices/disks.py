# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens disks, loop devices, device mapper, raw SCSI and NBD
# matters: the host's file systems
# expect: ENOENT
from attempt import reading

reading("/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/xvda", "/dev/loop0", "/dev/loop-control",
        "/dev/mapper/control", "/dev/dm-0", "/dev/sg0", "/dev/bsg", "/dev/nbd0", "/dev/md0",
        "/dev/btrfs-control", "/dev/ram0", "/dev/zram0")
