# SPDX-License-Identifier: GPL-2.0-or-later
"""Incast: two NICs send to a third through one switch, with neither PFC nor ECN,
with each, and with both. A setting has a priority of its own, so that all of them
live at one switch side by side."""

import concurrent.futures
import dataclasses
import threading

from . import programs
from .switched import Switched

# What two guests under emulation fill with ease, on a machine that has other work, too.
SPEED_MBPS = 100
# A frame of 1 KiB of payload takes 90 us of it; at 40 Gb/s it takes 0.2. The host's
# timers and its scheduler add some 100 us to the way there and back. So DCQCN's times
# are 20 times those of its paper. R_AI and R_HAI are there a thousandth and a hundredth of
# the link's rate; the least that can be said, 1 Mbit/s, is a hundredth here.
QCN = "ai-rate 1 hai-rate 5 time-reset 1100 byte-reset 500000 min-rate 2"
DEVLINK = {"np_min_time_between_cnps": 1000, "rp_dce_tcp_rtt": 1100}
# A queue pair has at most 128 KiB on the way. For two of them to overflow a queue it may
# have 1/9 of 960 KiB; as much of each port may be there before XOFF. Marking begins
# well below, at 0.6 ms of the link, and is of everything at 4.8 ms.
SWITCH = ("trust=dscp,pfc=3+5,ecn=4+5,kmin=8000,kmax=60000,pmax=0.1,"
          "buffer=1376256,headroom=65536,alpha=0.125,delay_ns=10000")
COUNTERS = ("retransmitted_packets", "np_ecn_marked_roce_packets", "np_cnp_sent",
            "rp_cnp_handled")
TOOL = "/tern/build/tools/tern-dcb"


@dataclasses.dataclass(frozen=True)
class Setting:
    """How the network treats a priority."""
    name: str
    priority: int
    pfc: bool
    ecn: bool

    @property
    def traffic_class(self):
        """Of IP: the class selector of the priority, which the switch trusts."""
        return self.priority << 5


SETTINGS = (Setting("neither", 1, False, False), Setting("PFC alone", 3, True, False),
            Setting("ECN alone", 4, False, True), Setting("both", 5, True, True))


@dataclasses.dataclass
class Result:
    """What a run of a setting came to; rates in Mbit/s."""
    setting: Setting
    flows: list
    drops: int
    pauses: int
    peak_bytes: int
    counters: dict
    samples: list       # (seconds, bytes in the queue, bytes received from each sender)

    @property
    def total(self):
        return sum(self.flows)

    @property
    def fairness(self):
        """Jain's index: 1 if all are equal, 1/n if one has everything."""
        squares = sum(f * f for f in self.flows)
        return sum(self.flows) ** 2 / (len(self.flows) * squares) if squares else 0.0


class Incast(Switched):
    """VM "a" receives, "b" and "c" send."""

    def __init__(self, **lab):
        super().__init__("abc", SWITCH, SPEED_MBPS, **lab)

    def commands(self, nic):
        """What a NIC is told, once: who is what by DSCP, and DCQCN's times."""
        pci = f"pci/{nic.slot}"
        return [f"dcb apptrust set dev {nic.netdev} order dscp",
                *(f"devlink dev param set {pci} name {name} value {value} cmode runtime"
                  for name, value in DEVLINK.items())]

    @staticmethod
    def setting_commands(nic, setting):
        """What it is told of a setting: PFC and ECN of its priority."""
        return [f"dcb pfc set dev {nic.netdev} prio-pfc all:off "
                f"{setting.priority}:{'on' if setting.pfc else 'off'}",
                f"{TOOL} qcn set dev {nic.netdev} prio {setting.priority} "
                f"enable {'on' if setting.ecn else 'off'} {QCN}"]

    def _totals(self, nics, setting):
        ports = self.switch()["ports"]
        queues = [port["priorities"][setting.priority] for port in ports]
        totals = {"drops": sum(q["rx_drops"] + q["tx_drops"] for q in queues),
                  "pauses": sum(port["pause_frames_sent"] for port in ports)}
        for name in COUNTERS:
            totals[name] = sum(int(nic.vm.out(
                f"cat /sys/class/infiniband/{nic.ibdev}/ports/1/hw_counters/{name}"))
                for nic in nics)
        return totals

    def _sample(self, setting, stop):
        samples = []
        while not stop.wait(0.05):
            state = self.switch()
            queues = [port["priorities"][setting.priority] for port in state["ports"]]
            samples.append((state["now_ns"] / 1e9, queues[0]["depth"],
                            *(q["rx_bytes"] for q in queues[1:])))
        return samples

    def run(self, nics, setting, seconds):
        """Both send to the first for so long; the Result."""
        for nic in nics:
            nic.vm.run(" && ".join(self.setting_commands(nic, setting)))
            # Counters are to be as they are when they are read.
            nic.vm.run(f"echo 0 > /sys/class/infiniband/{nic.ibdev}/ports/1/hw_counters/lifespan")
        before = self._totals(nics, setting)
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            sampler = pool.submit(self._sample, setting, stop)
            try:
                ends = programs.write_side_by_side(
                    nics[0], nics[1:], 65536,
                    f"-D {seconds} -f 1 -t 16 -u 18 --tclass={setting.traffic_class}")
            finally:
                stop.set()
            samples = sampler.result()
        after = self._totals(nics, setting)
        change = {name: after[name] - before[name] for name in after}
        start = samples[0][0]
        return Result(setting, [end["mib_s"] * 8 * 1.048576 for end in ends],
                      change.pop("drops"), change.pop("pauses"),
                      max(depth for _, depth, *_ in samples), change,
                      [(t - start, *rest) for t, *rest in samples])
