# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the driver's KUnit suites in a VM and counts what they tell."""

import re
import shutil
import sys

from . import paths
from .vm import VM, boot

MODULE = "/tern/build/modules/debug/kunit/tern_kunit.ko"
CASE = re.compile(r"^ {4,}(ok|not ok) \d+ (\S+)(.*)$")
# A parameter's result stands deeper than its case's.
DEPTH = re.compile(r"^ *")


def main():
    logs = paths.LOGS / "kunit"
    shutil.rmtree(logs, ignore_errors=True)
    passed = failed = skipped = 0
    with VM("kunit", "debug") as vm:
        boot(vm)
        try:
            vm.run(f"insmod {MODULE}", 300)
            suites = vm.out("for r in /sys/kernel/debug/kunit/*/results; do "
                            "echo \"= $(basename $(dirname $r))\"; cat $r; done", 300).splitlines()
            suite = ""
            count = {}
            for line in suites:
                if line.startswith("= "):
                    suite = line[2:]
                    count[suite] = 0
                    continue
                case = CASE.match(line)
                if not case or len(DEPTH.match(line).group()) > 4:
                    continue
                count[suite] += 1
                verdict, name, more = case.groups()
                if "# SKIP" in more:
                    skipped += 1
                    print(f"skipped {suite}.{name}{more}")
                elif verdict == "ok":
                    passed += 1
                else:
                    failed += 1
                    print(f"FAIL {suite}.{name}")
            for suite, cases in count.items():
                print(f"{suite}: {cases} cases")
                if not cases:
                    failed += 1
                    print(f"FAIL {suite}: no case ran")
            if not count:
                failed += 1
                print("FAIL: no suite ran")
            reports = vm.new_reports()
            for line in reports:
                failed += 1
                print(f"FAIL, the kernel reported: {line}")
        finally:
            vm.keep(logs)
    if failed:
        print(f"the kernel's log: {logs}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
