# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA programs run between two NICs of two guests: client and server.

Each function starts the server in one guest, waits until it listens, and runs
the client in the other.
"""

import itertools

from .agent import GuestError

_ports = itertools.count(20000)


def listening(server, vm, port, listens="ss -Hltn sport = :{port} | grep -q ."):
    """Waits until a server listens; raises what it said if it ended instead."""
    vm.wait_for(f"{listens.format(port=port)} || ! kill -0 {server.pid} 2>&-", 60)
    end = server.poll()
    if end is not None:
        raise GuestError(f"{vm.name}: the server ended before there was a client: "
                         f"{end.command}\n{end.output}")


def pingpong(program, server, client, args="", family=4, timeout=60):
    """ibv_*_pingpong, with data checked (-c)."""
    port = next(_ports)
    s_addr = server.address if family == 4 else server.address6
    c_addr = client.address if family == 4 else client.address6
    check = "" if program == "ibv_ud_pingpong" else "-c"
    one = f"{program} -p {port} {check} {args} -d "
    s = server.vm.spawn(f"{one}{server.ibdev} -g {server.gid_index(s_addr)}", timeout)
    listening(s, server.vm, port)
    # They exchange QP numbers over TCP, whose server listens on IPv4 alone.
    c = client.vm.run(f"{one}{client.ibdev} -g {client.gid_index(c_addr)} {server.address}",
                      timeout, check=False)
    if c.code:
        s.kill()
    s_end = s.wait(check=False)
    c.check()
    s_end.check()
    return c.output


def rping(server, client, args="-C 20 -v", family=4, timeout=60):
    """rping, data validated; by rdma_cm."""
    port = next(_ports)
    addr = server.address if family == 4 else server.address6
    s = server.vm.spawn(f"rping -s -a {addr} -p {port} {args} -V", timeout)
    listening(s, server.vm, port, "rdma resource show cm_id | grep -q 'LISTEN.*:{port}\\b'")
    out = client.vm.run(f"rping -c -a {addr} -p {port} {args} -V", timeout).output
    # rping's server ends with an error when its client disconnects; only the
    # client's end tells of the data.
    s.wait(check=False)
    return out


def perftest(program, server, client, size, args="", timeout=60, family=4):
    """One perftest run; its result line as a dictionary by column title."""
    port = next(_ports)
    s_addr = server.address if family == 4 else server.address6
    c_addr = client.address if family == 4 else client.address6
    one = f"{program} -F -p {port} -s {size} {args}"
    s = server.vm.spawn(f"{one} -d {server.ibdev} -x {server.gid_index(s_addr)}", timeout)
    listening(s, server.vm, port)
    c = client.vm.run(f"{one} -d {client.ibdev} -x {client.gid_index(c_addr)} {server.address}",
                      timeout, check=False)
    if c.code:
        s.kill()
    s_end = s.wait(check=False)
    c.check()
    s_end.check()
    return parse_perftest(c.output)


def write_side_by_side(server, clients, size, args="", timeout=60):
    """ib_write_bw from each of clients to one server at a time; a result line each."""
    running, commands = [], []
    try:
        for client in clients:
            port = next(_ports)
            one = f"ib_write_bw -F -p {port} -s {size} {args}"
            s = server.vm.spawn(f"{one} -d {server.ibdev} -x {server.gid_index(server.address)}",
                                timeout)
            running.append(s)
            listening(s, server.vm, port)
            commands.append(f"{one} -d {client.ibdev} -x {client.gid_index(client.address)} "
                            f"{server.address}")
        started = [c.vm.spawn(command, timeout) for c, command in zip(clients, commands)]
        running += started
        outputs = [c.wait().output for c in started]
        for s in running:
            s.wait()
    except GuestError:
        end_load(running)
        raise
    return [parse_perftest(output) for output in outputs]


def start_load(server, client, seconds=60):
    """RDMA WRITEs and a flood of pings, until something breaks them; the processes."""
    port = next(_ports)
    one = f"ib_write_bw -F -p {port} -s 65536 -D {seconds} -f 1"
    s = server.vm.spawn(f"{one} -d {server.ibdev} -x {server.gid_index(server.address)}", seconds + 30)
    listening(s, server.vm, port)
    c = client.vm.spawn(f"{one} -d {client.ibdev} -x {client.gid_index(client.address)} "
                        f"{server.address}", seconds + 30)
    ping = client.vm.spawn(f"ping -q -i 0.01 -W 1 {server.address}", seconds + 30)
    client.vm.wait_for(f"rdma resource show qp link {client.ibdev} | "
                       "grep -q 'type RC.* state RTS'", 20)
    return [s, c, ping]


def end_load(processes):
    for p in processes:
        p.kill("KILL")
    for p in processes:
        p.wait(check=False)


COLUMNS = {
    "BW average[MiB/sec]": "mib_s",
    "BW average[Gb/sec]": "gbit_s",
    "MsgRate[Mpps]": "mpps",
    "t_avg[usec]": "avg_us",
    "t_typical[usec]": "typical_us",
    "t_min[usec]": "min_us",
    "tps average": "tps",
    "#iterations": "iterations",
}


def parse_perftest(output):
    """The figures below the "#bytes" line."""
    lines = output.splitlines()
    for n, line in enumerate(lines):
        if not line.strip().startswith("#bytes"):
            continue
        titles = [t for t in _split_titles(line)]
        values = lines[n + 1].split()
        return {COLUMNS[t]: float(v) for t, v in zip(titles, values) if t in COLUMNS}
    raise ValueError(f"no figures in perftest's output:\n{output}")


def _split_titles(line):
    """Column titles; some have a space inside."""
    known = list(COLUMNS) + ["#bytes", "BW peak[MiB/sec]", "BW peak[Gb/sec]",
                             "t_max[usec]", "t_stdev[usec]",
                             "99% percentile[usec]", "99.9% percentile[usec]"]
    found = [(line.find(t), t) for t in known if t in line]
    return [t for _, t in sorted(found)]


def iperf(server, client, seconds=3, args="", timeout=60):
    """TCP throughput in Mbit/s."""
    port = next(_ports)
    s = server.vm.spawn(f"iperf3 -s -1 -p {port}", timeout)
    listening(s, server.vm, port)
    out = client.vm.out(f"iperf3 -c {server.address} -p {port} -t {seconds} {args} -f m", timeout)
    s.wait(check=False)
    line = [x for x in out.splitlines() if "receiver" in x][-1].split()
    return float(line[line.index("Mbits/sec") - 1])
