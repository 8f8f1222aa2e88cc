# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are."""

import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = TOP / "build"
LOGS = BUILD / "logs"


def component(name):
    """The directory of a component of the lab, which must have been made."""
    out = subprocess.run([TOP / "scripts/lab/get", name], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return pathlib.Path(out.strip())


def kernel_release(kernel):
    """The release of the kernel that the lab calls stock, newest or debug."""
    if kernel == "debug":
        return (component("debug-kernel") / "release").read_text().strip()
    rootfs = pathlib.Path(os.environ["TERN_IN_LAB"])
    return (rootfs / f"kernel-{kernel}").read_text().strip()


def kernel_image(kernel):
    """The file that QEMU boots."""
    if kernel == "debug":
        return component("debug-kernel") / "bzImage"
    rootfs = pathlib.Path(os.environ["TERN_IN_LAB"])
    return rootfs / "root/boot" / f"vmlinuz-{kernel_release(kernel)}"
