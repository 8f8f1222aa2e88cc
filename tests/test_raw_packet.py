# SPDX-License-Identifier: GPL-2.0-or-later
"""Raw packets between two guests: from process to process, to and from sockets
of the network stack, which goes on beside them; and a sniffer."""

from ternlab import programs

PORT = 4321


def mac(nic):
    return nic.vm.out(f"cat /sys/class/net/{nic.netdev}/address").strip()


def receive(guest_programs, nic, count):
    """A process that takes the next datagrams to PORT, whoever else would; it is ready."""
    p = nic.vm.spawn(f"{guest_programs}/raw_packet {nic.ibdev} receive {PORT} {count} "
                     "> /tmp/raw-packets", 90)
    nic.vm.wait_for("grep -q ready /tmp/raw-packets", 30)
    return p


def received(nic, process):
    process.wait()
    return nic.vm.out("cat /tmp/raw-packets").split("\n")[1:]


def send(guest_programs, nic, to, count):
    nic.vm.run(f"{guest_programs}/raw_packet {nic.ibdev} send {mac(nic)} {mac(to)} "
               f"{nic.address} {to.address} {PORT} {count}")


def packets(count):
    return [f"packet {i}" for i in range(count)]


def test_process_to_process(ends, guest_programs):
    a, b = ends
    p = receive(guest_programs, b, 100)
    send(guest_programs, a, b, 100)
    assert [line for line in received(b, p) if line] == packets(100)


def test_socket_to_process_and_back(ends, guest_programs):
    """The stack sends what a flow takes, and gets what no flow takes."""
    a, b = ends
    p = receive(guest_programs, b, 3)
    a.vm.run(f"for i in 0 1 2; do echo -n packet $i > /dev/udp/{b.address}/{PORT}; done")
    assert [line for line in received(b, p) if line] == packets(3)

    socket = b.vm.spawn(f"timeout 60 socat -u UDP4-RECV:{PORT} CREATE:/tmp/socket-packets", 90)
    programs.listening(socket, b.vm, PORT, "ss -Hlun sport = :{port} | grep -q .")
    send(guest_programs, a, b, 3)
    b.vm.wait_for("grep -q 'packet 2' /tmp/socket-packets", 30)
    socket.kill()
    assert b.vm.out("cat /tmp/socket-packets").strip() == "".join(packets(3))


def test_sniffer(ends, guest_programs):
    """Both directions of what the stack and the RDMA engine exchange; they do not miss it."""
    a, b = ends
    a.vm.run(f"ping -c 1 {b.address}")
    p = b.vm.spawn(f"{guest_programs}/raw_packet {b.ibdev} sniff 10 20 > /tmp/sniffed", 90)
    b.vm.wait_for("grep -q ready /tmp/sniffed", 30)
    a.vm.run(f"ping -c 5 -i 0.2 {b.address}")
    programs.pingpong("ibv_rc_pingpong", a, b, "-n 10 -s 64")
    p.wait()
    # Ten messages each way, acknowledged; of the others none twice.
    icmp, roce = b.vm.out("cat /tmp/sniffed").split()[2::2]
    assert int(icmp) == 10
    assert int(roce) >= 20
