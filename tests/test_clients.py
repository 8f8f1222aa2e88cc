# SPDX-License-Identifier: GPL-2.0-or-later
"""Who uses RDMA: storage in the kernel, message libraries in programs. Between two
tern NICs, and between tern and soft-RoCE, each of them as client and as server."""

import pytest

from ternlab import programs

MEGABYTES = 8


@pytest.fixture(scope="module", params=["tern and tern", "soft-RoCE serves", "tern serves"])
def roles(request):
    """Server, client, and how to pull a plug between them and to put it back."""
    if request.param == "tern and tern":
        scene = request.getfixturevalue("pair")
        server, client = request.getfixturevalue("ends")
        wired = "a"
    else:
        scene = request.getfixturevalue("far")
        server, client = request.getfixturevalue("mixed")
        if request.param == "soft-RoCE serves":
            server, client = client, server
        wired = "second"
    return server, client, lambda up: scene.ternd.ask("carrier", nic=wired, up=up)


def serve_disk(server, name):
    """A file, by NVMe over RDMA; the command that takes it back."""
    config = "/sys/kernel/config/nvmet"
    vm = server.vm
    vm.run(f"modprobe -aq nvmet nvmet-rdma; mountpoint -q /sys/kernel/config || "
           f"mount -t configfs none /sys/kernel/config; truncate -s {2 * MEGABYTES}M /tmp/{name}; "
           f"cd {config} && mkdir subsystems/{name} && echo 1 > subsystems/{name}/attr_allow_any_host && "
           f"mkdir subsystems/{name}/namespaces/1 && cd subsystems/{name}/namespaces/1 && "
           f"echo /tmp/{name} > device_path && echo 1 > buffered_io && echo 1 > enable && "
           f"cd {config}/ports && mkdir 1 && cd 1 && echo ipv4 > addr_adrfam && echo rdma > addr_trtype && "
           f"echo {server.address} > addr_traddr && echo 4420 > addr_trsvcid && "
           f"ln -s {config}/subsystems/{name} subsystems/{name}")
    return (f"cd {config} && rm ports/1/subsystems/{name} && rmdir ports/1 && "
            f"rmdir subsystems/{name}/namespaces/1 subsystems/{name} && rm /tmp/{name}")


def test_nvme(roles):
    """A file written and read back; and again after the link was away for longer than
    the host's keep-alive."""
    server, client, plug = roles
    vm = client.vm
    end = serve_disk(server, "tern-disk")
    try:
        vm.run("modprobe -aq nvme-rdma; nvme connect -t rdma -n tern-disk -s 4420 "
               f"-a {server.address} -i 2 -k 2 -c 1 -l 60", 60)
        vm.wait_for("test -b /dev/nvme0n1", 30)
        live = "grep -q live /sys/class/nvme/nvme0/state"
        vm.run(f"head -c {MEGABYTES}M /dev/urandom > /tmp/data && "
               "dd if=/tmp/data of=/dev/nvme0n1 bs=1M oflag=direct status=none && "
               "echo 3 > /proc/sys/vm/drop_caches && "
               f"dd if=/dev/nvme0n1 bs=64k count={16 * MEGABYTES} iflag=direct status=none | cmp - /tmp/data", 120)
        plug(False)
        try:
            vm.wait_for(f"! {live}", 60)
        finally:
            plug(True)
        vm.wait_for(live, 60)
        vm.run("dd if=/tmp/data of=/dev/nvme0n1 bs=64k seek=128 oflag=direct status=none && "
               f"dd if=/dev/nvme0n1 bs=1M skip={MEGABYTES} count={MEGABYTES} iflag=direct status=none | "
               "cmp - /tmp/data", 120)
    finally:
        vm.run("nvme disconnect -n tern-disk; rm -f /tmp/data", 60, check=False)
        server.vm.run(end, 60)


def test_nfs(roles):
    server, client, _ = roles
    vm = server.vm
    vm.run("modprobe -aq nfsd rpcrdma; mkdir -p /tmp/export /var/lib/nfs/v4recovery /run && mount -t tmpfs none /tmp/export && "
           "mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd; touch /var/lib/nfs/etab /var/lib/nfs/rmtab; "
           "exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check '*:/tmp/export' && "
           "rpc.mountd -N 2 -N 3 && rpc.nfsd -N 3 -U --rdma=20049 2 && "
           "echo Y > /proc/fs/nfsd/v4_end_grace", 60)
    try:
        client.vm.run("modprobe -aq nfs rpcrdma; mkdir -p /tmp/nfs && "
                      f"mount -t nfs4 -o vers=4.1,proto=rdma,port=20049,sec=sys {server.address}:/ /tmp/nfs", 60)
        try:
            client.vm.run(f"head -c {MEGABYTES}M /dev/urandom > /tmp/data && cp /tmp/data /tmp/nfs/ && sync && "
                          "echo 3 > /proc/sys/vm/drop_caches && cmp /tmp/data /tmp/nfs/data && "
                          "grep -q 'proto=rdma' /proc/mounts && for i in $(seq 200); do echo $i > /tmp/nfs/f$i; done && "
                          "test \"$(cat /tmp/nfs/f* | sort -n)\" = \"$(seq 200)\"", 120)
            vm.run("test $(stat -c %s /tmp/export/data) = " + str(MEGABYTES << 20))
        finally:
            client.vm.run("umount /tmp/nfs; rm -f /tmp/data", 60, check=False)
    finally:
        vm.run("rpc.nfsd 0; pkill rpc.mountd; exportfs -ua; umount /tmp/export", 60, check=False)


def fi_pingpong(server, client, provider, endpoint):
    port = next(programs._ports)
    one = f"fi_pingpong -p '{provider}' -e {endpoint} -c -I 50 -d "
    s = server.vm.spawn(f"{one}{server.ibdev} -B {port}", 90)
    programs.listening(s, server.vm, port)
    out = client.vm.run(f"{one}{client.ibdev} -P {port} {server.address}", 90, check=False)
    if out.code:
        s.kill()
    end = s.wait(check=False)
    assert out.code == 0 and end.code == 0, f"{out.output}\n{end.output}"


def test_libfabric_messages(roles):
    fi_pingpong(*roles[:2], "verbs", "msg")


def test_libfabric_datagrams(ends):
    """Reliable datagrams by shared receive queues: with soft-RoCE fi_enable() fails."""
    fi_pingpong(*ends, "verbs;ofi_rxm", "rdm")


def ucx_perftest(server, client, test, environment=lambda nic: ""):
    """Over InfiniBand verbs only: without UCX_TLS it would take TCP when verbs fail."""
    port = next(programs._ports)

    def one(nic):
        return (f"{environment(nic)} UCX_TLS=rc_v,ud_v UCX_NET_DEVICES={nic.ibdev}:1 "
                f"ucx_perftest -P 0 -p {port}")

    s = server.vm.spawn(one(server), 90)
    programs.listening(s, server.vm, port)
    out = client.vm.run(f"{one(client)} {server.address} -t {test} -n 200 -w 10", 90,
                        check=False)
    if out.code:
        s.kill()
    end = s.wait(check=False)
    assert out.code == 0 and end.code == 0, f"{out.output}\n{end.output}"
    assert "Final:" in out.output, out.output


@pytest.mark.parametrize("test", ["tag_lat -s 20000", "tag_bw -s 20000", "ucp_put_bw -s 20000",
                                  "ucp_get -s 20000", "ucp_fadd -s 8"])
def test_ucx(ends, test):
    ucx_perftest(*ends, test)


def test_ucx_with_soft_roce(roles):
    """By IPv6: of IPv4 soft-RoCE's completions do not say what UCX wants to know."""
    ucx_perftest(*roles[:2], "tag_lat -s 20000",
                 lambda nic: f"UCX_IB_GID_INDEX={nic.gid_index(nic.address6)}")
