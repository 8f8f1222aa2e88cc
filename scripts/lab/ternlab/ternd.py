# SPDX-License-Identifier: GPL-2.0-or-later
"""ternd, the program that hosts emulated NICs."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from . import paths, watch

SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|AddressSanitizer:|LeakSanitizer")


class TerndError(Exception):
    """ternd refused something or is not there."""


class Ternd:
    """One ternd.

    nics      names, or (name, "further=options") of --nic
    links     further arguments: --cable, --stream, --tap, --capture
    build     emulator (release) or emulator-asan
    """

    def __init__(self, nics, links=(), build="emulator", name="ternd", spin_us=None):
        self.name = name
        self.build = build
        self.spin_us = spin_us
        self.run_dir = pathlib.Path(tempfile.mkdtemp(prefix=f"tern-{name}-"))
        self.control = self.run_dir / "control"
        self.log_file = self.run_dir / "log"
        self.links = list(links)
        self.nics = dict(n if isinstance(n, tuple) else (n, "") for n in nics)
        self.process = None
        self.scanned = 0

    def socket(self, nic):
        """What a VM attaches to."""
        return self.run_dir / f"{nic}.sock"

    def start(self):
        cmd = [str(paths.BUILD / self.build / "ternd"), "--control", str(self.control)]
        if self.spin_us is not None:
            cmd += ["--spin-us", str(self.spin_us)]
        for nic, options in self.nics.items():
            more = f",{options}" if options else ""
            cmd += ["--nic", f"name={nic},socket={self.socket(nic)}{more}"]
        cmd += [str(a) for a in self.links]
        # Leaks are reported at exit; so is anything else, to the log.
        env = dict(os.environ, ASAN_OPTIONS="abort_on_error=0:detect_stack_use_after_return=1",
                   UBSAN_OPTIONS="print_stacktrace=1")
        with open(self.log_file, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stderr=log,
                                            stdout=subprocess.PIPE, text=True, env=env)
        ready = self.process.stdout.readline()
        if ready.strip() != "READY":
            self.process.wait()
            raise TerndError(f"ternd did not start: {self.log()}")
        watch.add(self)
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        return self.log_file.read_text(errors="replace")

    def new_reports(self):
        """Sanitizer reports since the last call, and a death that nobody asked for."""
        log = self.log()
        found = [line for line in log[self.scanned:].splitlines() if SANITIZER.search(line)]
        self.scanned = len(log)
        if not self.running():
            found.append(f"ended by itself, status {self.process.returncode}: {log[-2000:]}")
            watch.remove(self)
        return found

    def keep(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        for f in self.run_dir.iterdir():
            if f.is_file():
                shutil.copy(f, directory / f"{self.name}-{f.name}")
        if self.running():
            state = {}
            try:
                state["nics"] = self.ask("nics")["nics"]
                for nic in self.nics:
                    state[nic] = [self.ask("counters", nic=nic), self.ask("qps", nic=nic)]
            except (OSError, TerndError) as e:
                state["error"] = str(e)
            (directory / f"{self.name}-state.json").write_text(json.dumps(state, indent=1))

    def ask(self, command, **fields):
        """One command to the control socket; its answer."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.control))
            s.sendall(json.dumps({"command": command, **fields}).encode() + b"\n")
            answer = json.loads(s.makefile("r").readline())
        if not answer.pop("ok"):
            raise TerndError(f"ternd: {command}: {answer['error']}")
        return answer

    def counters(self, nic):
        return self.ask("counters", nic=nic)["counters"]

    def capture(self, nic, file):
        """A context in which what a NIC sends and receives goes to a file."""
        return _Capture(self, nic, file)

    def stop(self):
        """Ends it; raises if it does not end cleanly (leaks, for one)."""
        if self.process is None:
            return
        watch.remove(self)
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 20
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.02)
        if self.running():
            self.process.kill()
            self.process.wait()
            raise TerndError(f"ternd does not end\n{self.log()[-2000:]}")
        if self.process.returncode:
            raise TerndError(f"ternd ended with {self.process.returncode}\n{self.log()[-4000:]}")
        self.process = None

    def remove(self):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.run_dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class _Capture:
    def __init__(self, ternd, nic, file):
        self.ternd = ternd
        self.nic = nic
        self.file = file

    def __enter__(self):
        self.ternd.ask("start-capture", nic=self.nic, file=str(self.file))
        return self

    def __exit__(self, *exc):
        if self.ternd.running():
            self.ternd.ask("stop-capture", nic=self.nic)
