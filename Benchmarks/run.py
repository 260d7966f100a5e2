#!/usr/bin/env python3
"""Measures our client against the physical limit, in the same minutes on the same machine.

usage: run.py --programs DIR [--quick] [--rounds N] [--clients a,b] [WORKLOAD ...]

DIR holds the built programs. The server runs on core 0, the clients take turns on core 1 (A B C, A B C, ...).
Every measurement waits until the machine is quiet, and is repeated, twice at most, when other programs used more
than 0.12 core meanwhile. The table shows medians over the rounds, and each client's CPU time per request as a
multiple of the limit's. Compare only numbers of one run: the limit itself moves by a tenth between hours.

A workload is a function in WORKLOADS that yields Cases. A client is a row in CLIENTS; its program is called as
`PROGRAM URL TOTAL CONCURRENCY --warm N OPTIONS` and prints one line of JSON with at least
n rps cpu_us_req p50_us p99_us rss_kb, where CPU is user plus system time of the process over the measured requests.
"""
import argparse
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
LIMIT = "ceil"
TICK = os.sysconf("SC_CLK_TCK")
TOO_MUCH_FOREIGN = 0.12
COLUMNS = ("rps", "cpu_us_req", "p50_us", "p99_us", "rss_kb", "server_us_req")


class Case(NamedTuple):
    name: str
    path: str
    total: int
    concurrency: int
    bars: dict  # client: how many times the limit's CPU it may use at most


def small_keep_alive_gets():
    for concurrency in (1, 16, 64, 256):
        bars = {} if concurrency == 1 else {"completion": 1.5}
        yield Case(f"w1-c{concurrency}", "/small", 20_000 if concurrency == 1 else 80_000, concurrency, bars)


WORKLOADS = {"w1": small_keep_alive_gets}

CLIENTS = {
    LIMIT: ("ceil", []),
    "completion": ("afbench", ["--style", "completion"]),
    "delegate": ("afbench", ["--style", "delegate"]),
    "async": ("afbench", ["--style", "async"]),
}


def fail(message):
    sys.exit(f"bench: {message}")


def pinned(core, command):
    """The command on one core, ahead of others where we may."""
    nice = ["nice", "-n", "-20"] if os.geteuid() == 0 else []
    return [*nice, "taskset", "-c", str(core if (os.cpu_count() or 1) > 1 else 0), *map(str, command)]


# MARK: The machine

def busy_seconds():
    """CPU time all programs have used since the machine started."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / TICK


def wait_for_quiet(limit=12):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(0.25)
        if (busy_seconds() - before) / 0.25 < 0.1:
            return


# MARK: The server

class Server:
    """nginx with one worker on core 0."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "temp").mkdir()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        user = "user root;" if os.geteuid() == 0 else ""
        text = (HERE / "nginx.conf.in").read_text()
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
        text = text.replace("@DIR@", folder).replace("@PORT@", str(self.port)).replace("@USER@", user)
        (self.folder / "nginx.conf").write_text(text)

    def __enter__(self):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        command = ["nginx", "-p", self.folder, "-e", self.folder / "error.log", "-c", self.folder / "nginx.conf"]
        self.process = subprocess.Popen(pinned(0, command), env=dict(os.environ, PATH=path))
        try:
            self.worker = self.wait_for_worker()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_for_worker(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for _ in range(100):
            if self.process.poll() is not None:
                break
            found = children.read_text().split()
            if found:
                return int(found[0])
            time.sleep(0.05)
        fail(f"nginx does not start: {(self.folder / 'error.log').read_text()[-300:]}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def cpu_seconds(self):
        return int(Path(f"/proc/{self.worker}/schedstat").read_text().split()[0]) / 1e9


# MARK: Measuring

def measure_once(command, server):
    wait_for_quiet()
    busy, served, own, start = busy_seconds(), server.cpu_seconds(), os.times(), time.monotonic()
    done = subprocess.run(pinned(1, command), capture_output=True, text=True, timeout=300)
    wall, after = time.monotonic() - start, os.times()
    served, busy = server.cpu_seconds() - served, busy_seconds() - busy
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[:300]}")
    row = json.loads(done.stdout.strip().splitlines()[-1])
    own = after.children_user - own.children_user + after.children_system - own.children_system
    row["foreign"] = round(max(0.0, busy - own - served) / wall, 3)
    row["server_us_req"] = round(served * 1e6 / row["n"], 2)
    return row


def measure(command, server):
    """The quietest of three tries; most often the first is quiet enough."""
    best = None
    for _ in range(3):
        row = measure_once(command, server)
        if best is None or row["foreign"] < best["foreign"]:
            best = row
        if best["foreign"] <= TOO_MUCH_FOREIGN:
            break
    return best


def measure_all(cases, clients, rounds, programs, server):
    """{(case, client): [row of each round]}, interleaved."""
    samples, done, total = {}, 0, rounds * len(cases) * len(clients)
    for round_ in range(1, rounds + 1):
        for case in cases:
            for client in clients:
                program, options = CLIENTS[client]
                numbers = [case.total, case.concurrency, "--warm", max(500, 4 * case.concurrency)]
                row = measure([programs / program, server.url(case.path), *numbers, *options], server)
                samples.setdefault((case.name, client), []).append(row)
                done += 1
                print(f"[{done}/{total}] round {round_} {case.name} {client}: {row['cpu_us_req']:.2f} µs CPU, "
                      f"{row['rps']:.0f} req/s, others {row['foreign']:.2f} core", file=sys.stderr, flush=True)
    return samples


# MARK: Reporting

def summarise(samples):
    """Medians of the quiet rounds, of all rounds when none was quiet."""
    medians = {}
    for key, rows in samples.items():
        quiet = [row for row in rows if row["foreign"] <= TOO_MUCH_FOREIGN]
        used = quiet or rows
        medians[key] = {name: statistics.median(row[name] for row in used) for name in COLUMNS}
        medians[key]["rounds"], medians[key]["quiet"] = len(used), bool(quiet)
    for (case, _), row in medians.items():
        limit = medians.get((case, LIMIT))
        row["times_limit"] = row["cpu_us_req"] / limit["cpu_us_req"] if limit else None
    return medians


def print_table(cases, clients, medians):
    print(f"\n{'case':9} {'client':12} {'CPU µs':>8} {'x limit':>8} {'req/s':>9} {'p50 µs':>9} {'p99 µs':>9} "
          f"{'RSS MiB':>8} {'server µs':>9} {'rounds':>6}")
    for case in cases:
        for client in clients:
            row = medians[case.name, client]
            times = f"{row['times_limit']:.2f}" if row["times_limit"] else "-"
            print(f"{case.name:9} {client:12} {row['cpu_us_req']:8.2f} {times:>8} {row['rps']:9.0f} "
                  f"{row['p50_us']:9.1f} {row['p99_us']:9.1f} {row['rss_kb'] / 1024:8.1f} {row['server_us_req']:9.2f} "
                  f"{row['rounds']:6}{'' if row['quiet'] else ' noisy'}")
    for case in cases:
        for client, bar in case.bars.items():
            row = medians.get((case.name, client))
            if row and row["times_limit"]:
                verdict = "within" if row["times_limit"] <= bar else "OVER"
                print(f"{case.name} {client}: {row['times_limit']:.2f} times the limit, {verdict} the bar of {bar}")


def save(samples, medians, arguments):
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    revision = commit.stdout.strip() or "unknown"
    file = HERE / "Results" / f"{time.strftime('%Y%m%d-%H%M%S')}-{'-'.join(arguments.workloads)}-{revision}.json"
    rows = [{"case": case, "client": client, **row, "samples": samples[case, client]}
            for (case, client), row in medians.items()]
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "kernel": platform.release()}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"revision": revision, "quick": arguments.quick, **machine, "rows": rows}, indent=1))
    print(f"\nsaved as {file.relative_to(HERE.parent)}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description="measure our client against the physical limit")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one round of a tenth of the requests")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--clients", default=",".join(CLIENTS), help=f"of {', '.join(CLIENTS)}; default all")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; default all")
    arguments = parser.parse_args()
    arguments.workloads = arguments.workloads or list(WORKLOADS)
    arguments.clients = arguments.clients.split(",")
    for name in arguments.workloads:
        if name not in WORKLOADS:
            fail(f"no workload {name}: there are {', '.join(WORKLOADS)}")
    for name in arguments.clients:
        if name not in CLIENTS:
            fail(f"no client {name}: there are {', '.join(CLIENTS)}")
    return arguments


def main():
    arguments = parse_arguments()
    cases = [case for name in arguments.workloads for case in WORKLOADS[name]()]
    if arguments.quick:
        cases = [case._replace(total=case.total // 10) for case in cases]
    rounds = arguments.rounds or (1 if arguments.quick else 5)
    if (os.cpu_count() or 1) < 2:
        print("one core only: server and client share it, so expect noise", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="afnet-bench.") as folder, Server(folder) as server:
        samples = measure_all(cases, arguments.clients, rounds, arguments.programs, server)
    medians = summarise(samples)
    print_table(cases, arguments.clients, medians)
    save(samples, medians, arguments)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted")
