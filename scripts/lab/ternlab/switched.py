# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual machines whose NICs are at one switch of one ternd."""

from .nic import Tern
from .scene import Scene
from .ternd import Ternd
from .vm import VM

NET = "192.0.2."
NET6 = "fd00::"
SLOW_NET = "198.51.100."
SLOW_NET6 = "fd01::"


class Switched(Scene):
    """VMs with a tern NIC each, at ports 0, 1, ... of the switch "s".

    names    of the VMs and their NICs
    switch   further options of --switch
    speed    of the NICs' links, Mbit/s
    slow     whether the first two have a second NIC, at a cable of 10 Mbit/s, where one
             pause lasts for 3.4 s
    """

    def __init__(self, names, switch, speed, kernel="stock", build="emulator", slow=False):
        super().__init__()
        nics = [(name, f"speed={speed},link=switch:s:{n}") for n, name in enumerate(names)]
        links = ["--switch", f"name=s,ports={len(names)},speed={speed},{switch}"]
        second = [f"{name}-slow" for name in names[:2]] if slow else []
        if slow:
            links += ["--cable", f"a={second[0]},b={second[1]}"]
        self.ternds = [Ternd(nics + [(name, "speed=10") for name in second], links, build)]
        self.vms = [VM(name, kernel, terns=[self.ternd.socket(n) for n in
                                            (name, f"{name}-slow") if n in self.ternd.nics])
                    for name in names]

    def nics(self, mtu=1500):
        """The NICs, with addresses."""
        return [Tern.find(vm).configure(f"{NET}{n}", f"{NET6}{n}", mtu)
                for n, vm in enumerate(self.vms, 1)]

    def slow_nics(self):
        """Those of the cable, with addresses."""
        return [Tern.find(vm, 1).configure(f"{SLOW_NET}{n}", f"{SLOW_NET6}{n}")
                for n, vm in enumerate(self.vms[:2], 1)]

    def switch(self):
        """What the switch says of itself."""
        answer, = self.ternd.ask("switch", switch="s")["switches"]
        return answer
