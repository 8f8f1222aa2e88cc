# SPDX-License-Identifier: GPL-2.0-or-later
"""make shell, the part that runs in the lab: two VMs to work in, in a tmux."""

import os
import subprocess
import sys

from . import paths
from .pair import Pair

SHARE = paths.BUILD / "shell"
RC = SHARE / "tmux.conf"


def main():
    pair = Pair(virtio=True)
    for vm in pair.vms:
        vm.prompt = True
    with pair:
        print("booting two virtual machines...", flush=True)
        pair.start()
        pair.install()
        ends = pair.nics()
        for vm in pair.vms:
            vm.run("ln -sfn /tern/build/shell /root/shell")
        control = pair.ternd.control
        SHARE.mkdir(parents=True, exist_ok=True)
        RC.write_text("set -g mouse on\nset -g status-right 'ctrl-b o: other pane; "
                      "ctrl-b &: end all'\nbind & kill-session\n")
        os.environ["TERN_CONTROL"] = str(control)
        os.environ["PATH"] = f"{paths.BUILD / 'emulator'}:{os.environ['PATH']}"
        panes = [f"socat -,raw,echo=0 UNIX:{vm.run_dir}/prompt" for vm in pair.vms]
        hint = ("; ".join(f"{nic.vm.name}: {nic.ibdev} on {nic.netdev}, {nic.address}, "
                          f"{nic.address6}" for nic in ends))
        tmux = ["tmux", "-L", f"tern-{os.getpid()}", "-f", str(RC)]
        commands = [*tmux, "new-session", "-s", "tern", panes[0], ";",
                    "split-window", "-v", panes[1], ";",
                    "split-window", "-v", "-l", "8",
                    f"echo '{hint}'; echo 'this is the host: ternctl looks at the NICs "
                    "(try ternctl nics)'; exec bash", ";", "select-pane", "-t", "0"]
        if not sys.stdin.isatty():
            print("make shell needs a terminal", file=sys.stderr)
            return 1
        return subprocess.run(commands, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
