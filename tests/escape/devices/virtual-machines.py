# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens KVM, vhost, vfio, vsock, hypervisor and DMA devices
# matters: a driver with a large surface each, some with direct access to memory
# expect: ENOENT
from attempt import reading

reading("/dev/kvm", "/dev/vhost-net", "/dev/vhost-vsock", "/dev/vfio/vfio", "/dev/vsock",
        "/dev/iommu", "/dev/udmabuf", "/dev/dma_heap/system", "/dev/hv_kvp", "/dev/xen/privcmd",
        "/dev/vmci", "/dev/vboxguest")
