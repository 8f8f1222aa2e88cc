# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs modules of rdma-core's own Python tests in a guest, test by test.

usage: rdma_core_tests.py DIR RESULTS LIMIT MODULE... -- OPTIONS

DIR holds rdma-core's folder "tests"; OPTIONS are those of its run_tests.py. A
line of JSON goes to the file RESULTS for each test: id, outcome (passed, skipped,
failed, crashed or hung), what it says, seconds. A test has LIMIT seconds. The
tests run in children: what one does to its process, the next does not see when
it has ended that process, and a test that neither ends nor crashes is killed.
"""

import faulthandler
import json
import os
import random
import select
import signal
import sys
import time
import traceback
import unittest


class Reporter(unittest.TestResult):
    """Tells of each test's start and end on a pipe."""

    def __init__(self, pipe):
        super().__init__()
        self.pipe = pipe
        self.outcome = None

    def tell(self, **fields):
        os.write(self.pipe, json.dumps(fields).encode() + b"\n")

    def startTest(self, test):
        super().startTest(test)
        # Some make their queue pairs by chance: by the same at each run.
        random.seed(test.id())
        self.outcome = ("passed", "")
        self.tell(start=test.id())

    def stopTest(self, test):
        super().stopTest(test)
        outcome, text = self.outcome
        self.tell(end=test.id(), outcome=outcome, text=text)

    def worse(self, outcome, text):
        if self.outcome is None or self.outcome[0] != "failed":
            self.outcome = (outcome, text)

    def addSkip(self, test, reason):
        self.worse("skipped", reason)

    def addError(self, test, err):
        text = "".join(traceback.format_exception(*err))
        if not isinstance(test, unittest.TestCase):
            # A class's or a module's own preparation: none of its tests is started.
            self.tell(start=str(test))
            self.tell(end=str(test), outcome="failed", text=text)
            return
        self.worse("failed", text)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test):
        self.worse("failed", "unexpected success")


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def child(tests, pipe):
    """Never returns."""
    try:
        os.setsid()
        faulthandler.enable()
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        unittest.TestSuite(tests).run(Reporter(pipe))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)


class Run:
    """One child's run of some tests of a module."""

    def __init__(self, tests, limit):
        self.limit = limit
        read, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            child(tests, write)
        os.close(write)
        self.pipe = read
        self.buffer = b""

    def message(self):
        """The next message; None when there will be none, "hung" after the limit."""
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.pipe], [], [], self.limit)
            if not ready:
                return "hung"
            data = os.read(self.pipe, 65536)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def end(self, kill):
        """Ends the child and what it left behind; how it ended."""
        os.close(self.pipe)
        if kill:
            os.kill(self.pid, signal.SIGUSR1)
            time.sleep(0.5)
            os.killpg(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = os.waitstatus_to_exitcode(status)
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def run_module(tests, limit, report):
    """Runs all tests, in as many children as it takes."""
    while tests:
        run = Run(tests, limit)
        running, since, message = None, time.monotonic(), None
        while True:
            message = run.message()
            if not isinstance(message, dict):
                break
            if "start" in message:
                running, since = message["start"], time.monotonic()
                continue
            report(id=message["end"], outcome=message["outcome"], text=message["text"],
                   seconds=round(time.monotonic() - since, 2))
            tests = [t for t in tests if t.id() != message["end"]]
            running = None
        how = run.end(kill=message == "hung")
        if running is None and how == "exit code 0":
            return
        if running is None:
            running = tests[0].id() if tests else "after the last test"
        if message == "hung":
            report(id=running, outcome="hung", text=f"no end after {limit} s", seconds=limit)
        else:
            report(id=running, outcome="crashed", text=how,
                   seconds=round(time.monotonic() - since, 2))
        tests = [t for t in tests if t.id() != running]


def main():
    split = sys.argv.index("--")
    directory, results, limit, *modules = sys.argv[1:split]
    sys.argv[1:] = sys.argv[split + 1:]
    sys.path[:0] = [directory, os.path.join(directory, "tests")]
    from args_parser import parser

    parser.parse_args()
    with open(results, "w", encoding="utf-8") as out:
        def report(**fields):
            out.write(json.dumps(fields) + "\n")
            out.flush()

        for module in modules:
            try:
                suite = unittest.defaultTestLoader.loadTestsFromName(f"tests.{module}")
                tests = list(flatten(suite))
            except Exception:
                report(id=f"tests.{module}", outcome="failed", text=traceback.format_exc(),
                       seconds=0)
                continue
            run_module(tests, int(limit), report)
        report(id="end", outcome="end", text="", seconds=0)


main()
