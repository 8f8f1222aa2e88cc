# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a kernel log mean that a test has failed."""

import re

# Each checker of the debug kernel, by how its reports begin.
REPORTS = re.compile("|".join([
    r"\bWARNING: ",                       # WARN, lockdep, RCU
    r"\bBUG: ",                           # KASAN, sleep in atomic, oops
    r"\bBUG [\w-]+ \(",                   # slab
    r"kernel BUG at",
    r"\bUBSAN: ",
    r"\bINFO: task .* blocked for more",
    r"\bINFO: rcu\w* .*(stall|self-detected)",
    r"\bINFO: (trying to register non-static key|lockdep is turned off)",
    r"\bDMA-API: .*(ERROR|error|leak|device driver|overlapping|exceeded|not enough)",
    r"\bODEBUG: ",
    r"\bOops\b",
    r"Unable to handle|unable to handle",
    r"general protection fault",
    r"refcount_t: ",
    r"list_(add|del) corruption",
    r"Call Trace:",
    r"kmemleak: \d+ new suspected memory leaks",
    r"unregister_netdevice: waiting for",
    r"NETDEV WATCHDOG",
    r"Kernel panic",
    r"segfault at|traps: .* (trap|general)",
    r"page allocation failure",
    r"Bad page (state|map)",
    r"hung_task: ",
    r"soft lockup|hard LOCKUP",
]))


# DMA-API's debugging takes memory that is mapped twice for a fault. A process
# may register the same memory as often as it likes, so for ib_umem's mappings
# it is none. (Any other overlap stays one.)
OVERLAP = re.compile(
    r"[^\n]*DMA-API: [^\n]*(?:overlapping mappings aren't supported"
    r"|exceeded \d+ overlapping mappings)[^\n]*\n"
    r"(?:[^\n]*\n)*?[^\n]*end trace[^\n]*\n"
    r"(?:[^\n]*DMA-API: Mapped at:\n(?:[^\n]*\]  [^\n]*\n?)+)?")


def without_overlaps(log):
    """The log without DMA-API's reports of memory that was registered twice."""
    return OVERLAP.sub(lambda m: "" if "ib_umem_get" in m[0] else m[0], log)


def reports(log):
    """The lines of a log that tell of a fault."""
    return [line for line in without_overlaps(log).splitlines() if REPORTS.search(line)]
