# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of the verbs, by a program in a guest whose queue pairs talk to each
other over one tern NIC: limits, full queues, flushing, events, protection."""

import re

import pytest

from ternlab import paths

RULES = re.findall(r'^\t\{ "(\w+)", test_\w+ \},$',
                   (paths.TOP / "tests/guest/rules_queues.c").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def nic(ends):
    return ends[0]


@pytest.mark.parametrize("rule", RULES)
def test_rule(nic, guest_programs, rule):
    nic.vm.run(f"{guest_programs}/verbs_rules {nic.ibdev} {nic.gid_index(nic.address)} {rule}",
               timeout=400)


def test_a_process_without_the_provider(nic, guest_programs):
    device = nic.vm.out(f"ls /sys/class/infiniband/{nic.ibdev}/device/infiniband_verbs")
    nic.vm.run(f"{guest_programs}/raw_uverbs /dev/infiniband/{device}")
