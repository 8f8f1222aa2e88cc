# SPDX-License-Identifier: GPL-2.0-or-later
"""As many objects as the device says it has, and one more."""

import pytest


@pytest.mark.parametrize("kind", [
    "pd", "xrcd", "cq", "qp", "srq",
    # A quarter of a million: four minutes each.
    pytest.param("mr", marks=pytest.mark.soak), pytest.param("mw", marks=pytest.mark.soak)])
def test_as_many_as_there_are(ends, guest_programs, kind):
    nic = ends[0]
    print(nic.vm.run(f"{guest_programs}/object_limits {nic.ibdev} {kind}", timeout=600).output)
