# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens GPU, frame buffer, sound, video and USB devices
# matters: the largest drivers there are
# expect: ENOENT
from attempt import reading

reading("/dev/dri/card0", "/dev/dri/renderD128", "/dev/fb0", "/dev/nvidiactl", "/dev/kfd",
        "/dev/snd/control", "/dev/video0", "/dev/bus/usb/001/001", "/dev/tpm0", "/dev/rtc0",
        "/dev/i2c-0", "/dev/gpiochip0", "/dev/hpet")
