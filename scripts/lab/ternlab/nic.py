# SPDX-License-Identifier: GPL-2.0-or-later
"""NICs as a guest has them: a tern, or soft-RoCE over virtio-net.

Both have the same attributes (vm, netdev, ibdev, address, address6), so that
what is done with one can be done with the other.
"""

import glob
import ipaddress

from . import paths

PROVIDER_DIR = "/usr/lib/x86_64-linux-gnu/libibverbs"
# What tern_ib.ko needs, and what programs need; there is no udev to load it.
RDMA_MODULES = "ib_uverbs rdma_ucm ib_umad"


class Nic:
    """An RDMA-capable NIC of a guest."""

    kind = ""

    def __init__(self, vm, netdev, ibdev):
        self.vm = vm
        self.netdev = netdev
        self.ibdev = ibdev
        self.address = None
        self.address6 = None

    def configure(self, address, address6, mtu=1500):
        """Addresses and MTU; returns when the GIDs of the addresses are there."""
        self.address = address
        self.address6 = address6
        dev = self.netdev
        self.vm.run(
            f"sysctl -q -w net.ipv6.conf.{dev}.accept_dad=0 "
            f"net.ipv6.conf.{dev}.addr_gen_mode=0;"
            f"ip link set {dev} mtu {mtu} up && "
            f"ip addr add {address}/24 dev {dev} && "
            f"ip addr add {address6}/64 dev {dev} nodad")
        self.gid_index(address)
        self.gid_index(address6)
        return self

    def gids(self):
        """Index -> (GID, type) of what is in the GID table."""
        # An entry that is not valid has no type: reading it is an error.
        out = self.vm.out(
            f"cd /sys/class/infiniband/{self.ibdev}/ports/1 && {{ "
            "grep -sH . gid_attrs/types/*; echo; grep -H . gids/*; }")
        types, gids = out.split("\n\n", 1)
        gid_of = dict(line.split(":", 1) for line in gids.splitlines())
        table = {}
        for line in types.splitlines():
            name, kind = line.split(":", 1)
            index = name.rsplit("/", 1)[-1]
            table[int(index)] = (gid_of[f"gids/{index}"], kind)
        return table

    def gid_index(self, address, kind="RoCE v2"):
        """The index of the GID of an address and type; waits for it."""
        packed = ipaddress.ip_address(address).packed
        if len(packed) == 4:
            packed = bytes(10) + b"\xff\xff" + packed
        want = packed.hex(":", 2)
        port = f"/sys/class/infiniband/{self.ibdev}/ports/1"
        out = self.vm.out(
            f"cd {port}; while :; do for i in $(grep -l {want} gids/*); do i=${{i##*/}};"
            f"grep -q '{kind}' gid_attrs/types/$i && echo $i && exit; done 2>/dev/null;"
            "sleep 0.1; done", timeout=20)
        return int(out)


class Tern(Nic):
    """A tern NIC, by its place among the VM's tern NICs."""

    kind = "tern"

    @staticmethod
    def modules(kernel):
        """The guest's paths of the two modules, built for its kernel."""
        base = paths.BUILD / "modules" / kernel / "drivers"
        return [f"/tern/{(base / ko).relative_to(paths.TOP)}"
                for ko in ("tern/tern.ko", "tern_ib/tern_ib.ko")]

    @staticmethod
    def install_provider(vm):
        built, = glob.glob(str(paths.BUILD / "provider/libtern-rdmav*.so"))
        inside = built.replace(str(paths.TOP), "/tern")
        vm.run(f"cp {inside} {PROVIDER_DIR}/ && mkdir -p /etc/libibverbs.d && "
               "cp /tern/build/provider/tern.driver /etc/libibverbs.d/")

    @classmethod
    def load(cls, vm):
        """insmod of both modules; what they need is loaded first."""
        tern, tern_ib = cls.modules(vm.kernel)
        vm.run(f"modprobe -aq {RDMA_MODULES}; insmod {tern} && insmod {tern_ib}")

    @classmethod
    def unload(cls, vm):
        vm.run("rmmod tern_ib && rmmod tern")

    @classmethod
    def find(cls, vm, n=0):
        """The VM's nth tern NIC, bound and registered."""
        out = vm.out(
            "for d in /sys/bus/pci/drivers/tern/0*; do "
            "echo ${d##*/} $(ls $d/net) $(ls $d/infiniband); done").splitlines()
        if n >= len(out) or len(out[n].split()) != 3:
            raise LookupError(f"{vm.name}: no tern NIC {n}: {out}")
        slot, netdev, ibdev = out[n].split()
        nic = cls(vm, netdev, ibdev)
        nic.slot = slot
        return nic


class SoftRoce(Nic):
    """Soft-RoCE over a virtio-net NIC."""

    kind = "soft-RoCE"

    @classmethod
    def create(cls, vm, netdev="eth0", ibdev="rxe0"):
        vm.run(f"modprobe -aq rdma_rxe {RDMA_MODULES}; ip link set {netdev} up && "
               f"rdma link add {ibdev} type rxe netdev {netdev}")
        return cls(vm, netdev, ibdev)
