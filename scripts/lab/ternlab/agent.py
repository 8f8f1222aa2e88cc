# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands in a guest, by qemu-guest-agent's guest-exec.

The agent answers one request at a time but runs any number of commands, so
Process objects may be used side by side, also from several threads.
"""

import base64
import json
import socket
import threading
import time


class GuestError(Exception):
    """A guest, or its agent, does not do what it was asked."""


class CommandFailed(GuestError):
    """A command in a guest ended with an exit code that is not 0."""


class Result:
    """The end of a command: exit code and output (stdout and stderr merged)."""

    def __init__(self, host, command, code, output):
        self.host = host
        self.command = command
        self.code = code
        self.output = output

    def check(self):
        if self.code:
            raise CommandFailed(f"{self.host}: exit code {self.code} of "
                                f"{self.command}\n{self.output}")
        return self


class Agent:
    """The host's end of one guest's agent."""

    def __init__(self, path, alive):
        self.path = path
        self.alive = alive
        self.lock = threading.Lock()
        self.sock = None
        self.buf = b""

    def connect(self, timeout):
        """Waits until the guest's agent answers."""
        deadline = time.monotonic() + timeout
        token = 0
        while True:
            if not self.alive():
                raise GuestError("the virtual machine ended while booting")
            if time.monotonic() > deadline:
                raise GuestError(f"no answer from the guest's agent in {timeout} s")
            try:
                if self.sock is None:
                    self.sock = socket.socket(socket.AF_UNIX)
                    self.sock.connect(str(self.path))
                token += 1
                answer = self._call("guest-sync", {"id": token}, 0.5)
                while answer != token:
                    # An answer to an attempt that had timed out.
                    answer = self._receive(0.5)
                return
            except (ConnectionError, FileNotFoundError):
                self.sock.close()
                self.sock = None
                time.sleep(0.05)
            except TimeoutError:
                pass

    def _call(self, name, arguments, timeout):
        request = json.dumps({"execute": name, "arguments": arguments})
        self.sock.sendall(request.encode() + b"\n")
        return self._receive(timeout, name)

    def _receive(self, timeout, name="guest-sync"):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buf:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.sock.settimeout(left)
            data = self.sock.recv(1 << 20)
            if not data:
                raise ConnectionResetError
            self.buf += data
        line, self.buf = self.buf.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise GuestError(f"agent: {name}: {answer['error'].get('desc')}")
        return answer["return"]

    def call(self, name, arguments, timeout=60):
        with self.lock:
            try:
                return self._call(name, arguments, timeout)
            except TimeoutError:
                raise GuestError(f"the guest's agent does not answer ({name}, "
                                 f"{timeout} s)") from None
            except ConnectionError:
                raise GuestError(f"the virtual machine ended ({name})") from None


class Process:
    """A command that runs in a guest."""

    def __init__(self, agent, host, command, timeout):
        self.agent = agent
        self.host = host
        self.command = command
        self.timeout = timeout
        self.deadline = time.monotonic() + timeout + 30
        self.result = None
        # timeout(1) ends the whole process group, so nothing is left over.
        # exec-status tells the output only at the end, so output() needs a file.
        answer = agent.call("guest-exec", {
            "path": "/usr/bin/timeout",
            "arg": ["-k", "3", str(timeout), "/bin/bash", "-c",
                    "ulimit -l unlimited; " + command],
            "capture-output": "merged"})
        self.pid = answer["pid"]

    def poll(self):
        """The Result, or None while the command runs."""
        if self.result is None:
            answer = self.agent.call("guest-exec-status", {"pid": self.pid})
            if answer["exited"]:
                code = answer.get("exitcode")
                if code is None:
                    code = 128 + answer.get("signal", 0)
                out = base64.b64decode(answer.get("out-data", ""))
                out = out.decode(errors="replace")
                if code in (124, 137):
                    out += f"\n(ended after {self.timeout} s)"
                self.result = Result(self.host, self.command, code, out)
        return self.result

    def wait(self, check=True):
        pause = 0.01
        while self.poll() is None:
            if time.monotonic() > self.deadline:
                raise GuestError(f"{self.host}: {self.command} outlives its "
                                 f"limit of {self.timeout} s: the guest hangs")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
        return self.result.check() if check else self.result

    def kill(self, signal="TERM"):
        """Sends a signal to the command's whole process group."""
        self.agent.call("guest-exec", {
            "path": "/bin/kill", "arg": [f"-{signal}", "--", f"-{self.pid}"]})
