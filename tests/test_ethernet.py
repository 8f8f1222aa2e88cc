# SPDX-License-Identifier: GPL-2.0-or-later
"""The netdev: traffic of every kind, settings while it runs, statistics."""

import re

import pytest

from ternlab import programs


def ping(nic, address, args="-c 3 -i 0.1"):
    nic.vm.run(f"ping {args} -W 5 {address}")


def checksum_of_transfer(source, sink, size, port, extra=""):
    """TCP from one end to the other; both checksums."""
    s = sink.vm.spawn(f"socat -u TCP-LISTEN:{port},reuseaddr - | sha256sum", 180)
    sink.vm.wait_for(f"ss -Hltn sport = :{port} | grep -q .")
    sent = source.vm.out(
        f"{extra} head -c {size} /dev/urandom > /tmp/data && "
        f"socat -u FILE:/tmp/data TCP:{sink.address}:{port} && sha256sum < /tmp/data", 180)
    return sent.split()[0], s.wait().check().output.split()[0]


@pytest.mark.parametrize("size", [0, 1, 56, 1472, 1473, 8000, 60000])
def test_ping_sizes(ends, size):
    ping(ends[0], ends[1].address, f"-c 3 -i 0.1 -s {size}")
    ping(ends[1], ends[0].address6, f"-c 3 -i 0.1 -s {size}")


def test_tcp_data_is_exact(ends):
    for n, (source, sink) in enumerate((ends, ends[::-1])):
        sent, received = checksum_of_transfer(source, sink, 8_000_000, 7000 + n)
        assert sent == received


@pytest.mark.parametrize("feature", ["tso", "tx", "rx", "sg", "gro"])
def test_tcp_without_an_offload(ends, feature):
    a = ends[0]
    a.vm.run(f"ethtool -K {a.netdev} {feature} off")
    try:
        sent, received = checksum_of_transfer(*ends, 3_000_000, 7100)
        assert sent == received
    finally:
        a.vm.run(f"ethtool -K {a.netdev} {feature} on")


def test_parallel_streams(ends):
    programs.iperf(*ends, seconds=4, args="-P 4")
    programs.iperf(*ends, seconds=3, args="-R")


def test_udp(ends):
    a, b = ends
    s = b.vm.spawn("iperf3 -s -1 -p 7200")
    b.vm.wait_for("ss -Hltn sport = :7200 | grep -q .")
    a.vm.run(f"iperf3 -u -c {b.address} -p 7200 -t 2 -b 5M -l 1400")
    s.wait()


def test_vlan(ends):
    for n, nic in enumerate(ends, 1):
        nic.vm.run(f"ip link add link {nic.netdev} name v100 type vlan id 100 && "
                   f"ip addr add 10.100.0.{n}/24 dev v100 && ip link set v100 up")
    try:
        ping(ends[0], "10.100.0.2")
        ping(ends[0], "10.100.0.2", "-c 2 -i 0.1 -s 1472 -M do")
    finally:
        for nic in ends:
            nic.vm.run("ip link del v100")


def test_wrong_vlan_is_not_received(ends):
    for n, nic in enumerate(ends, 1):
        nic.vm.run(f"ip link add link {nic.netdev} name vx type vlan id {100 + n} && "
                   f"ip addr add 10.101.0.{n}/24 dev vx && ip link set vx up")
    try:
        result = ends[0].vm.run("ping -c 2 -i 0.2 -W 1 10.101.0.2", check=False)
        assert result.code == 1
    finally:
        for nic in ends:
            nic.vm.run("ip link del vx")


@pytest.mark.parametrize("mtu", [9000, 4200, 1280, 1500])
def test_mtu_change_while_loaded(ends, mtu):
    a, b = ends
    traffic = a.vm.spawn(f"ping -q -i 0.02 -c 100 -W 1 -s 1200 {b.address}")
    for nic in ends:
        nic.vm.run(f"ip link set {nic.netdev} mtu {mtu}")
    traffic.wait(check=False)  # what was on the way may be lost
    ping(a, b.address, f"-c 3 -i 0.1 -M do -s {mtu - 28}")
    assert a.vm.run(f"ping -c 1 -W 1 -M do -s {mtu - 27} {b.address}",
                    check=False).code != 0


def test_mtu_limits(ends):
    a = ends[0]
    info = a.vm.out(f"ip -d link show {a.netdev}")
    maximum = int(re.search(r"maxmtu (\d+)", info).group(1))
    assert maximum >= 9000
    assert a.vm.run(f"ip link set {a.netdev} mtu {maximum + 1}", check=False).code
    a.vm.run(f"ip link set {a.netdev} mtu {maximum} && ip link set {a.netdev} mtu 1500")


def test_mac_change_while_loaded(ends):
    a, b = ends
    old = a.vm.out(f"cat /sys/class/net/{a.netdev}/address")
    traffic = b.vm.spawn(f"ping -q -i 0.02 -c 100 -W 1 {a.address}")
    a.vm.run(f"ip link set {a.netdev} address 02:12:34:56:78:9a")
    traffic.wait(check=False)
    b.vm.run("ip neigh flush all")
    ping(b, a.address)
    assert "02:12:34:56:78:9a" in b.vm.out(f"ip neigh show {a.address}")
    a.vm.run(f"ip link set {a.netdev} address {old}")
    b.vm.run("ip neigh flush all")
    ping(b, a.address)


def test_link_down_and_up_while_loaded(ends):
    a, b = ends
    for _ in range(5):
        traffic = b.vm.spawn(f"ping -q -i 0.01 -c 50 -W 1 {a.address}")
        a.vm.run(f"ip link set {a.netdev} down && ip link set {a.netdev} up")
        traffic.wait(check=False)
    # IPv6 addresses go with the link; the next tests want them.
    a.vm.run(f"ip addr replace {a.address6}/64 dev {a.netdev} nodad")
    ping(b, a.address)
    ping(b, a.address6)
    a.gid_index(a.address6)


def test_carrier(ends, pair):
    a = ends[0]
    carrier = f"/sys/class/net/{a.netdev}/carrier"
    pair.ternd.ask("carrier", nic="a", up=False)
    a.vm.wait_for(f"grep -q 0 {carrier}")
    pair.ternd.ask("carrier", nic="a", up=True)
    a.vm.wait_for(f"grep -q 1 {carrier}")
    ping(a, ends[1].address)


def test_multicast_and_promiscuous(ends):
    a, b = ends
    # A group that b has not joined does not come; joined, it does.
    b.vm.run(f"ip maddr add 01:00:5e:01:02:03 dev {b.netdev}")
    watch = b.vm.spawn(f"tcpdump -p -n -c 3 -i {b.netdev} icmp and host 239.129.2.3", 20)
    b.vm.wait_for("pgrep -x tcpdump")
    a.vm.run(f"ping -c 40 -i 0.1 -W 1 -I {a.netdev} 239.129.2.3", check=False)
    watch.wait()
    b.vm.run(f"ip maddr del 01:00:5e:01:02:03 dev {b.netdev}")
    # A foreign unicast MAC comes only to a promiscuous port.
    a.vm.run(f"ip neigh replace 192.0.2.77 lladdr 02:aa:bb:cc:dd:ee dev {a.netdev}")
    for promiscuous in (False, True):
        b.vm.run(f"ip link set {b.netdev} promisc {'on' if promiscuous else 'off'}")
        watch = b.vm.spawn(f"timeout 5 tcpdump -p -n -c 1 -i {b.netdev} host 192.0.2.77", 20)
        b.vm.wait_for("pgrep -x tcpdump")
        a.vm.run("ping -c 10 -i 0.1 -W 1 192.0.2.77", check=False)
        assert (watch.wait(check=False).code == 0) == promiscuous
    b.vm.run(f"ip link set {b.netdev} promisc off")
    a.vm.run(f"ip neigh del 192.0.2.77 dev {a.netdev}")


def test_statistics_count(ends):
    a, b = ends

    def packets(nic, what):
        return int(nic.vm.out(f"cat /sys/class/net/{nic.netdev}/statistics/{what}"))

    before = packets(a, "tx_packets"), packets(b, "rx_packets")
    ping(a, b.address, "-c 50 -i 0.01")
    assert packets(a, "tx_packets") - before[0] >= 50
    assert packets(b, "rx_packets") - before[1] >= 50
    out = a.vm.out(f"ethtool -S {a.netdev}")
    assert re.search(r": [1-9]", out)


def test_ethtool_views(ends):
    a = ends[0]
    dev = a.netdev
    assert "driver: tern" in a.vm.out(f"ethtool -i {dev}")
    assert "Link detected: yes" in a.vm.out(f"ethtool {dev}")
    for view in ("-g", "-l", "-c", "-x", "-k", "-a", "-T"):
        a.vm.run(f"ethtool {view} {dev}", check=view not in ("-a",))
    a.vm.run(f"devlink dev info pci/{a.slot}")


def test_ethtool_settings_keep_traffic(ends):
    a, b = ends
    dev = a.netdev
    rings = a.vm.out(f"ethtool -g {dev}")
    rx = int(re.findall(r"^RX:\s+(\d+)", rings, re.M)[1])
    tx = int(re.findall(r"^TX:\s+(\d+)", rings, re.M)[1])
    traffic = b.vm.spawn(f"ping -q -i 0.02 -c 300 {a.address}")
    a.vm.run(f"ethtool -G {dev} rx 128 tx 128")
    ping(a, b.address)
    a.vm.run(f"ethtool -G {dev} rx {rx} tx {tx}")
    ping(a, b.address)
    for combined in (1, 2):
        a.vm.run(f"ethtool -L {dev} combined {combined}")
        ping(a, b.address)
    a.vm.run(f"ethtool -C {dev} rx-usecs 50 && ethtool -C {dev} rx-usecs 0")
    ping(a, b.address)
    a.vm.run(f"ethtool -X {dev} equal 1 && ethtool -X {dev} equal 2")
    ping(a, b.address)
    traffic.kill()
    traffic.wait(check=False)


def test_self_test(ends):
    a = ends[0]
    out = a.vm.out(f"ethtool -t {a.netdev} offline")
    assert "The test result is PASS" in out
    ping(a, ends[1].address)
