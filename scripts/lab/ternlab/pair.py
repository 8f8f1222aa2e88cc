# SPDX-License-Identifier: GPL-2.0-or-later
"""Two virtual machines with what joins them: the usual scene."""

import pathlib
import shutil
import tempfile

from .nic import SoftRoce, Tern
from .ternd import Ternd
from .vm import VM, boot

TERN_NET = "192.0.2."
TERN_NET6 = "fd00::"
SOFT_NET = "198.51.100."
SOFT_NET6 = "fd01::"


class Pair:
    """VMs "a" and "b", each with a tern NIC; the NICs are joined by a wire.

    kernel      the guests' kernel
    build       which ternd: emulator or emulator-asan
    virtio      whether they have virtio-net NICs too, joined as well
    processes   1: one ternd and a cable; 2: a ternd each and a unix stream
    options     further options of both NICs
    native      as VM's
    terns       which VMs have a tern NIC; the other's wire is a virtio-net NIC
                on ternd's unix stream, for soft-RoCE
    """

    def __init__(self, kernel="stock", build="emulator", virtio=False, processes=1,
                 options="", memory="1500M", links=(), terns="ab", native=False):
        self.run_dir = pathlib.Path(tempfile.mkdtemp(prefix="tern-pair-"))
        wire = self.run_dir / "wire"
        names = list(terns)
        with_options = [(n, options) for n in names]
        if terns != "ab":
            stream = ["--stream", f"nic={names[0]},path={wire},role=server"]
            self.ternds = [Ternd(with_options, [*stream, *links], build)]
        elif processes == 1:
            self.ternds = [Ternd(with_options, ["--cable", "a=a,b=b", *links], build)]
        else:
            self.ternds = [
                Ternd([one], ["--stream", f"nic={one[0]},path={wire},role={role}", *links],
                      build, name=f"ternd-{one[0]}")
                for one, role in zip(with_options, ("server", "client"))]
        self.vms = []
        for name in "ab":
            wires = [("@" if name == "a" else "") + str(self.run_dir / "virtio")] \
                if virtio else []
            sockets = [self.ternd_of(name).socket(name)] if name in names else []
            if not sockets:
                wires.append(str(wire))
            self.vms.append(VM(name, kernel, wires=wires, terns=sockets, memory=memory,
                               native=native))
        self.a, self.b = self.vms
        self.virtio = virtio
        self.terns = terns

    def ternd_of(self, name):
        """The ternd that hosts a NIC."""
        return next(t for t in self.ternds if name in t.nics)

    @property
    def ternd(self):
        """The only ternd, or the first."""
        return self.ternds[0]

    def start(self):
        for t in self.ternds:
            t.start()
        boot(*self.vms)
        return self

    def vms_with_tern(self):
        return [vm for vm in self.vms if vm.name in self.terns]

    def install(self):
        """The provider and the modules, in the VMs that have a tern NIC."""
        for vm in self.vms_with_tern():
            Tern.install_provider(vm)
            Tern.load(vm)

    def nics(self, mtu=1500):
        """Both ends of the wire, with addresses; a Tern or a SoftRoce each."""
        ends = []
        for n, vm in enumerate(self.vms, 1):
            if vm.name in self.terns:
                nic = Tern.find(vm)
            else:
                nic = SoftRoce.create(vm, f"eth{len(vm.wires) - 1}")
            ends.append(nic.configure(f"{TERN_NET}{n}", f"{TERN_NET6}{n}", mtu))
        return ends

    def soft_nics(self, mtu=1500):
        """Soft-RoCE on the two virtio-net NICs, with addresses."""
        return [SoftRoce.create(vm).configure(f"{SOFT_NET}{n}", f"{SOFT_NET6}{n}", mtu)
                for n, vm in enumerate(self.vms, 1)]

    def remove(self):
        for vm in self.vms:
            vm.remove()
        try:
            for t in self.ternds:
                t.remove()
        finally:
            shutil.rmtree(self.run_dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()
