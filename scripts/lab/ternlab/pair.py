# SPDX-License-Identifier: GPL-2.0-or-later
"""Two virtual machines with what joins them: the usual scene."""

import pathlib
import shutil
import tempfile

from .nic import SoftRoce, Tern
from .scene import Scene
from .ternd import Ternd
from .vm import VM

TERN_NET = "192.0.2."
TERN_NET6 = "fd00::"
SOFT_NET = "198.51.100."
SOFT_NET6 = "fd01::"
MIXED_NET = "203.0.113."
MIXED_NET6 = "fd02::"


class Pair(Scene):
    """VMs "a" and "b", each with a tern NIC; the NICs are joined by a wire.

    kernel      the guests' kernel
    build       which ternd: emulator or emulator-asan
    virtio      whether they have virtio-net NICs too, joined as well
    processes   1: one ternd and a cable; 2: a ternd each and a unix stream
    mixed       whether a has a second tern NIC, whose wire, ternd's unix
                stream, ends at a virtio-net NIC of b, for soft-RoCE
    native      as VM's
    """

    def __init__(self, kernel="stock", build="emulator", virtio=False, processes=1,
                 memory="1500M", mixed=False, native=False):
        super().__init__()
        self.run_dir = pathlib.Path(tempfile.mkdtemp(prefix="tern-pair-"))
        wire = self.run_dir / "wire"
        to_virtio = self.run_dir / "mixed"
        second = [("second", "")] if mixed else []
        links = ["--stream", f"nic=second,path={to_virtio},role=server"] if mixed else []
        if processes == 1:
            self.ternds = [Ternd([("a", ""), ("b", ""), *second],
                                 ["--cable", "a=a,b=b", *links], build)]
        else:
            self.ternds = [
                Ternd([("a", ""), *second],
                      ["--stream", f"nic=a,path={wire},role=server", *links], build,
                      name="ternd-a"),
                Ternd([("b", "")], ["--stream", f"nic=b,path={wire},role=client"], build,
                      name="ternd-b")]
        for name in "ab":
            wires = [("@" if name == "a" else "") + str(self.run_dir / "virtio")] \
                if virtio else []
            sockets = [self.ternd_of(name).socket(name)]
            if mixed and name == "a":
                sockets.append(self.ternd_of("second").socket("second"))
            if mixed and name == "b":
                wires.append(str(to_virtio))
            self.vms.append(VM(name, kernel, wires=wires, terns=sockets, memory=memory,
                               native=native))
        self.a, self.b = self.vms
        self.virtio = virtio

    def ternd_of(self, name):
        """The ternd that hosts a NIC."""
        return next(t for t in self.ternds if name in t.nics)

    def nics(self, mtu=1500):
        """Both ends of the wire, with addresses."""
        return [Tern.find(vm).configure(f"{TERN_NET}{n}", f"{TERN_NET6}{n}", mtu)
                for n, vm in enumerate(self.vms, 1)]

    def mixed_nics(self, mtu=1500):
        """a's second tern NIC, and soft-RoCE at the other end of its wire, with addresses."""
        ends = [Tern.find(self.a, 1),
                SoftRoce.create(self.b, f"eth{len(self.b.wires) - 1}")]
        return [nic.configure(f"{MIXED_NET}{n}", f"{MIXED_NET6}{n}", mtu)
                for n, nic in enumerate(ends, 1)]

    def soft_nics(self, mtu=1500):
        """Soft-RoCE on the two virtio-net NICs, with addresses."""
        return [SoftRoce.create(vm).configure(f"{SOFT_NET}{n}", f"{SOFT_NET6}{n}", mtu)
                for n, vm in enumerate(self.vms, 1)]

    def remove(self):
        try:
            super().remove()
        finally:
            shutil.rmtree(self.run_dir, ignore_errors=True)
