# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of steps that a person watches: each says what it does, how long it
is expected to take and how long it took."""

import contextlib
import sys
import time


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
