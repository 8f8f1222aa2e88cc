# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of steps that a person watches: each says what it does, how long it
is expected to take and how long it took."""

import contextlib
import shutil
import sys
import time

from . import paths, watch


class Steps:
    """Numbers and times steps."""

    def __init__(self, total, done=0):
        self.total = total
        self.done = done
        self.current = None
        self.start = time.monotonic()

    @contextlib.contextmanager
    def step(self, what, expected):
        """One step; expected is its usual time in seconds."""
        self.done += 1
        self.current = what
        start = time.monotonic()
        print(f"\n[{self.done:2}/{self.total}] {what} (about {expected} s)", flush=True)
        yield
        print(f"        {time.monotonic() - start:.1f} s", flush=True)

    def show(self, text):
        """Output that belongs to the step."""
        for line in str(text).rstrip("\n").splitlines():
            print(f"        | {line}", flush=True)

    def failed(self, error, logs):
        """What is said when a step fails."""
        sys.stdout.flush()
        print(f"\nFAILED in step {self.done}, {self.current}:\n{error}\n\n"
              f"The logs of the machines and of ternd: {logs}", file=sys.stderr)


class Unexpected(Exception):
    """What is shown is not as it should be."""


def demonstrate(name, scene, show):
    """A demo: show(steps, scene), which returns what concludes it when the machines' logs
    have been looked at; its exit code. The command line says how many steps were done
    before, and how many there are."""
    steps = Steps(int(sys.argv[2]), int(sys.argv[1]))
    logs = paths.LOGS / name
    shutil.rmtree(logs, ignore_errors=True)
    try:
        conclude = show(steps, scene)
        with steps.step("the VMs' kernel logs", 1):
            reports = watch.new_reports()
            if reports:
                raise Unexpected("the kernel or ternd reported a fault:\n" + "\n".join(reports))
            steps.show("nothing reported")
        conclude()
    except Exception as e:  # whatever it is: say where the logs are, then fail
        watch.keep(logs)
        steps.failed(e, logs)
        return 1
    finally:
        scene.remove()
    return 0
