# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual machines."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from . import dmesg, paths, watch
from .agent import Agent, GuestError, Process

BOOT_LIMIT = {"stock": 180, "newest": 180, "debug": 400}


def have_kvm():
    """KVM where it can be trusted: the CPU shows it and the device opens."""
    info = pathlib.Path("/proc/cpuinfo").read_text().split()
    if "vmx" not in info and "svm" not in info:
        return False
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR))
    except OSError:
        return False
    return True


class VM:
    """One virtual machine.

    kernel  stock, newest or debug
    wires   paths of unix sockets, one virtio-net NIC each; with a leading "@"
            this side listens (QEMU's -netdev stream)
    terns   paths of unix sockets on which ternd serves a NIC, one device each
    share   a directory of the host that the guest has at /vm
    prompt  whether a shell runs on a console that the unix socket "prompt" in
            run_dir leads to
    native  whether the guest's own drivers handle hotplug and errors of its bus,
            as on a real machine, and it can sleep
    """

    def __init__(self, name, kernel="stock", wires=(), terns=(), cpus=2,
                 memory="1500M", append="", share=None, prompt=False,
                 native=False):
        self.name = name
        self.kernel = kernel
        self.wires = list(wires)
        self.terns = list(terns)
        self.cpus = cpus
        self.memory = memory
        self.append = append
        self.qemu = None
        self.agent = None
        # Paths of unix sockets are short; those of checkouts may not be.
        self.run_dir = pathlib.Path(tempfile.mkdtemp(prefix=f"tern-{name}-"))
        self.share = pathlib.Path(share) if share else self.run_dir / "share"
        self.share.mkdir(parents=True, exist_ok=True)
        self.prompt = prompt
        self.native = native
        self.console = self.run_dir / "console"
        self.kmsg_file = self.share / "kmsg"
        self.scanned = 0
        self.boot_seconds = None

    # -- life ------------------------------------------------------------

    def _command(self):
        sock = self.run_dir
        # No five-level paging: it slows TCG, and an interrupt while the kernel
        # identifies the CPU, with the capability cleared, misleads KASAN.
        cpu = ["-accel", "kvm", "-cpu", "host"] if have_kvm() else \
              ["-accel", "tcg,thread=multi", "-cpu", "max,la57=off"]
        cmd = ["qemu-system-x86_64", "-M", "q35,memory-backend=m", *cpu,
               "-object", f"memory-backend-memfd,id=m,size={self.memory},share=on",
               # With a single possible vCPU TCG turns a locked instruction into
               # a plain one, and the doorbell protocol breaks.
               "-smp", f"{self.cpus},maxcpus=2",
               "-nodefaults", "-nic", "none", "-display", "none", "-no-reboot",
               "-kernel", paths.kernel_image(self.kernel),
               "-initrd", paths.component("initramfs") / f"{self.kernel}.cpio",
               "-append", "console=ttyS0 quiet panic=-1 mitigations=off "
               f"log_buf_len=4M kasan_multi_shot no_timer_check net.ifnames=0 tern.name={self.name} {self.append}",
               "-serial", f"file:{self.console}",
               "-qmp", f"unix:{sock}/qmp,server=on,wait=off",
               "-drive", "id=disk,if=none,format=raw,readonly=on,file="
               f"{paths.component('guest-image')}/guest.erofs",
               "-device", "virtio-blk-pci,drive=disk",
               *self.virtio(0, "virtio-serial-pci"),
               "-chardev", f"socket,id=agent,path={sock}/agent,server=on,wait=off",
               "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"]
        if self.native:
            # With ACPI's hotplug QEMU's ports do not say that their link is up, and
            # the kernel recovers from no error on it.
            cmd += ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
        for n, (tag, path, ro) in enumerate((("tern", paths.TOP, "on"),
                                             ("vm", self.share, "off")), 1):
            cmd += ["-fsdev", f"local,id={tag},path={path},readonly={ro},"
                    "security_model=none,multidevs=remap",
                    *self.virtio(n, f"virtio-9p-pci,fsdev={tag},mount_tag={tag}")]
        if self.prompt:
            cmd += ["-chardev", f"socket,id=prompt,path={sock}/prompt,server=on,wait=off",
                    "-device", "virtconsole,chardev=prompt"]
        for n, wire in enumerate(self.wires):
            server = wire.startswith("@")
            role = "server=on" if server else "server=off,reconnect-ms=100"
            cmd += ["-netdev", f"stream,id=wire{n},{role},addr.type=unix,"
                    f"addr.path={wire.lstrip('@')}",
                    "-device", f"virtio-net-pci,netdev=wire{n},romfile=,"
                    f"mac={self.mac(n)}"]
        for n, path in enumerate(self.terns):
            cmd += ["-device", f"pcie-root-port,id=slot{n},chassis={n + 1},"
                    f"slot={n + 1},addr={16 + n:#x}",
                    "-device", json.dumps(self.tern_device(n, path))]
        return [str(c) for c in cmd]

    def virtio(self, n, device):
        """Options for a virtio device. If the machine is to sleep, one that sleep does
        not reset: Linux' 9p would not come back, and what the host had just asked of
        the agent would be lost."""
        if not self.native:
            return ["-device", device]
        return ["-device", f"pcie-root-port,id=port{n},chassis={16 + n},slot={16 + n},"
                f"addr={24 + n:#x},hotplug=off",
                "-device", f"{device},bus=port{n},x-pcie-pm-no-soft-reset=on"]

    def mac(self, n):
        """The MAC address of a virtio-net NIC, different for each VM name."""
        last = sum(self.name.encode()) % 250
        return f"52:54:00:00:{n:02x}:{last:02x}"

    @staticmethod
    def tern_device(n, path):
        """What -device and device_add take for a NIC that ternd serves."""
        return {"driver": "vfio-user-pci", "id": f"tern{n}", "bus": f"slot{n}",
                "socket": {"type": "unix", "path": str(path)}}

    def start(self):
        """Starts booting; several VMs may boot at once, then wait_ready()."""
        self.started = time.monotonic()
        self.scanned = 0
        with open(self.run_dir / "qemu.log", "w", encoding="utf-8") as log:
            self.qemu = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log)
        watch.add(self)
        self.agent = Agent(self.run_dir / "agent",
                           lambda: self.qemu.poll() is None)
        return self

    def wait_ready(self):
        """Waits until it runs commands. A kernel that panics before is started once
        more: nothing of ours is loaded yet, and TCG's CPUs rarely meet kernel code
        that another is about to patch. Twice is a failure."""
        for attempt in 1, 2:
            try:
                self.agent.connect(BOOT_LIMIT[self.kernel])
                break
            except GuestError as e:
                words = f"{self.name}: {e}\n{self.last_words()}"
                if attempt == 2 or not self.panicked():
                    raise GuestError(words) from None
                print(f"boots once more, its kernel panicked: {words}", file=sys.stderr)
            self.stop()
            self.console.rename(self.run_dir / "console-panicked")
            self.start()
        self.boot_seconds = time.monotonic() - self.started
        return self

    def panicked(self):
        """Whether the kernel has said on the console that it ends."""
        return self.console.exists() and \
            "Kernel panic" in self.console.read_text(errors="replace")

    def last_words(self):
        """The end of what QEMU and the console said."""
        text = ""
        for f in (self.run_dir / "qemu.log", self.console):
            if f.exists():
                lines = f.read_text(errors="replace").splitlines()[-40:]
                text += f"--- {f.name} ---\n" + "\n".join(lines) + "\n"
        return text

    def running(self):
        return self.qemu is not None and self.qemu.poll() is None

    def stop(self):
        """Ends it, without asking the guest: its disk is read-only."""
        watch.remove(self)
        if self.qemu is not None:
            self.qemu.kill()
            self.qemu.wait()
            self.qemu = None
        if self.agent is not None and self.agent.sock is not None:
            self.agent.sock.close()

    def remove(self):
        self.stop()
        shutil.rmtree(self.run_dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()

    # -- commands --------------------------------------------------------

    def run(self, command, timeout=60, check=True):
        """Runs a shell command to its end; raises if it fails and check is set."""
        return Process(self.agent, self.name, command, timeout).wait(check)

    def out(self, command, timeout=60):
        """The output of a command that must succeed, without the last newline."""
        return self.run(command, timeout).output.rstrip("\n")

    def spawn(self, command, timeout=60):
        """Starts a shell command, to be waited for or killed."""
        return Process(self.agent, self.name, command, timeout)

    def wait_for(self, command, timeout=60):
        """Repeats a command, in the guest, until it succeeds."""
        return self.run(f"until {command}; do sleep 0.1; done 2>&1", timeout)

    def qmp(self, command, **arguments):
        """One command for QEMU itself."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.run_dir / "qmp"))
            stream = s.makefile("rw", encoding="utf-8")
            stream.readline()
            for request in ({"execute": "qmp_capabilities"},
                            {"execute": command, "arguments": arguments}):
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                answer = {}
                while not {"return", "error"} & answer.keys():
                    answer = json.loads(stream.readline())
            if "error" in answer:
                raise GuestError(f"QMP {command}: {answer['error']['desc']}")
            return answer["return"]

    # -- the kernel's log ------------------------------------------------

    def log(self):
        """The whole kernel log up to now."""
        marker = f"tern-lab-{time.monotonic_ns()}"
        self.run(f"echo {marker} > /dev/kmsg")
        deadline = time.monotonic() + 30
        while True:
            # A record is "prefix;text" and lines of key=value that begin with
            # a space. A record's bytes may not all be there yet.
            text = self.kmsg_file.read_bytes().decode(errors="replace")
            if marker in text:
                break
            if time.monotonic() > deadline:
                raise GuestError(f"{self.name}: the kernel log does not arrive")
            time.sleep(0.02)
        lines = []
        for line in text.splitlines():
            if line.startswith(" ") or ";" not in line:
                continue
            prefix, message = line.split(";", 1)
            if message.startswith("tern-lab-"):
                continue
            usec = int(prefix.split(",")[2])
            lines.append(f"[{usec / 1e6:12.6f}] {message}")
        return "\n".join(lines) + "\n"

    def new_reports(self):
        """Fault reports in the kernel log since the last call."""
        try:
            log = self.log()
        except GuestError as e:
            self.scanned = 0
            return [str(e), *dmesg.reports(self.console.read_text(errors="replace"))]
        new = log[self.scanned:]
        self.scanned = len(log)
        # DMA-API's debugging tells of one fault only; an overlap was none.
        if dmesg.without_overlaps(new) != new:
            self.run("echo 1 > /sys/kernel/debug/dma-api/num_errors")
        return dmesg.reports(new)

    # Scans for leaks and prints them. What is younger than 5 s may be a leak only
    # at the second scan.
    KMEMLEAK = ("cd /sys/kernel/debug && echo scan > kmemleak && sleep 6 && "
                "echo scan > kmemleak && cat kmemleak")

    def kmemleak(self):
        """Leaks; they are then in the kernel log, too."""
        return self.out(self.KMEMLEAK, 180)

    def kmemleak_clear(self):
        self.run("echo clear > /sys/kernel/debug/kmemleak")

    # -- for the reader of a failure -------------------------------------

    def keep(self, directory):
        """Copies console, kernel log and QEMU's output to a directory."""
        directory.mkdir(parents=True, exist_ok=True)
        for f in (*self.run_dir.glob("console*"), self.run_dir / "qemu.log",
                  *self.share.iterdir()):
            if f.is_file():
                shutil.copy(f, directory / f"{self.name}-{f.name}")
        try:
            (directory / f"{self.name}-dmesg").write_text(self.log())
        except (GuestError, OSError):
            pass  # a guest that hangs; its records so far are in NAME-kmsg


def boot(*vms):
    """Boots VMs side by side."""
    for vm in vms:
        vm.start()
        deadline = time.monotonic() + 5
        while any(w.startswith("@") and not os.path.exists(w[1:]) for w in vm.wires):
            if time.monotonic() > deadline or not vm.running():
                raise GuestError(f"{vm.name}: QEMU did not start\n{vm.last_words()}")
            time.sleep(0.02)
    for vm in vms:
        vm.wait_ready()
    return vms
