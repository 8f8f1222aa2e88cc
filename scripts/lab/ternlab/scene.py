# SPDX-License-Identifier: GPL-2.0-or-later
"""What scenes of virtual machines and ternds have in common."""

from .nic import Tern
from .vm import boot


class Scene:
    """VMs with tern NICs, and the ternds that host them.

    vms     the machines
    ternds  the programs
    """

    def __init__(self):
        self.vms = []
        self.ternds = []

    @property
    def ternd(self):
        """The only ternd, or the first."""
        return self.ternds[0]

    def start(self):
        for t in self.ternds:
            t.start()
        boot(*self.vms)
        return self

    def install(self):
        """The provider and the modules."""
        for vm in self.vms:
            Tern.install_provider(vm)
            Tern.load(vm)

    def remove(self):
        for vm in self.vms:
            vm.remove()
        for t in self.ternds:
            t.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()
