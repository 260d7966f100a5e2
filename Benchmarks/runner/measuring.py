"""One measurement, and the rounds of them."""
import gzip
import json
import os
import random
import time
from pathlib import Path

from . import coldstart, counts
from .clients import CLIENTS
from .machine import CLIENT_CORE, busy_seconds, note, pinned, raise_descriptor_limit, wait_for_quiet
from .programs import Failed, TooSlow, Unsupported, report_of
from .results import TOO_MUCH_FOREIGN, derived
from .servers import ECHO_MODULE, OWN_SERVERS, Nginx
from .trust import Trust, own_system
from .workloads import workload_of

BLOCK = 1 << 20


def make_bodies(folder):
    """What programs take as one value: bytes of three sizes, and a list in JSON that comes compressed."""
    for name, size in (("4k", 4 << 10), ("64k", 64 << 10), ("1m", 1 << 20)):
        (folder / name).write_bytes(os.urandom(size))
    dice = random.Random(1)
    rows = [{"id": dice.randrange(10**9), "name": f"{dice.getrandbits(64):016x}", "tags": ["new", "sale"]}
            for _ in range(2_000)]
    (folder / "coded").write_bytes(gzip.compress(json.dumps(rows).encode()[:64 << 10], mtime=0))


def descriptors_for(case):
    return case.concurrency + case.connections + 100


class Bench:
    """Everything a measurement needs: servers, certificates, files."""

    def __init__(self, programs, folder, cases, quick):
        self.programs, self.folder, self.quick, self.turn = Path(programs), Path(folder), quick, 0
        self.patience, self.tries = (1, 1) if quick else (12, 3)
        self.descriptors = raise_descriptor_limit(max(map(descriptors_for, cases)) + 400)
        self.trust = Trust(self.folder)
        (self.folder / "www").mkdir()
        self.make_file(max(case.size for case in cases))
        make_bodies(self.folder / "www")
        self.servers = {"nginx": Nginx(self.folder)}
        for server in OWN_SERVERS:
            if self.has(server.name) and any(case.server == server.name for case in cases):
                self.servers[server.name] = server(self.folder, self.programs)

    def __enter__(self):
        started = []
        try:
            for server in self.servers.values():
                started.append(server.__enter__())
        except BaseException:
            for server in started:
                server.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.__exit__()

    def has(self, program):
        return os.access(self.programs / program, os.X_OK)

    def make_file(self, size):
        """Real pages: all holes of a sparse file are one page, which never leaves the processor's cache."""
        block = os.urandom(BLOCK)
        with open(self.folder / "www" / "big", "wb") as file:
            for _ in range(size // BLOCK):
                file.write(block)

    # MARK: What cannot be measured here

    def obstacle(self, case, client):
        """Why this client cannot be measured in this case, in half a sentence, or None."""
        if not self.has(client.program):
            return f"{client.program} {client.hint}"
        if case.server not in self.servers:
            return f"{case.server} is missing: see the messages of the build above"
        if case.path.startswith("/slow") and not ECHO_MODULE.exists():
            return "nginx has no echo module: ./dev setup --bench"
        if descriptors_for(case) > self.descriptors:
            return f"only {self.descriptors} descriptors are allowed: raise `ulimit -Hn`"
        needs_system = client.system_trust_only or workload_of(case.name).runner == "coldstart"
        if needs_system and case.secure and not self.own_system(case):
            return "cannot be given an authority without rights to mount: run as root"
        return None

    def own_system(self, case):
        return own_system(self.trust.store(case.key, case.roots))

    # MARK: One measurement

    def command(self, case, client):
        server = self.servers[case.server]
        self.turn += 1
        values = {"out": self.folder / "out", "file": self.folder / "www" / "big", "size": case.size}
        options = [option.format(**values) for option in case.options]
        trust = ["--ca", self.trust.bundle(case.key, case.roots)] if case.secure else []
        start = self.own_system(case) if case.secure and client.system_trust_only else []
        return [*start, self.programs / client.program, server.url(case, self.turn), case.count_for(client),
                case.concurrency, "--warm", case.warm_for(client), *trust, *options, *client.options]

    def observed(self, command, server, warm=0, seconds=300):
        """A program's own report, and what the server and others used meanwhile."""
        wait_for_quiet(self.patience)
        busy, served, own, start = busy_seconds(), server.cpu_seconds(), os.times(), time.monotonic()
        # Some clients store a body elsewhere first: moving it must not be copying it.
        report = report_of(pinned(CLIENT_CORE, command), seconds, TMPDIR=str(self.folder),
                           XDG_CACHE_HOME=str(self.folder))
        wall, after = time.monotonic() - start, os.times()
        served, busy = server.cpu_seconds() - served, busy_seconds() - busy
        own = after.children_user - own.children_user + after.children_system - own.children_system
        report["foreign"] = round(max(0.0, busy - own - served) / wall, 3)
        if report.get("n"):
            report["server_us_req"] = round(served * 1e6 / (report["n"] + warm), 2)
        (self.folder / "out").unlink(missing_ok=True)
        return report

    def request(self, case, client):
        row = self.observed(self.command(case, client), self.servers[case.server], case.warm_for(client),
                            case.seconds)
        return derived(row, case)

    def start(self, case, client):
        system = self.own_system(case) if case.secure else []
        row = self.observed(coldstart.command(self, case, client, system), self.servers[case.server])
        return {**derived(row, case), **coldstart.libraries_of(self.programs / client.program)}

    def quietest(self, measurement, case, client):
        """Most often the first of three tries is quiet enough."""
        best = None
        for _ in range(self.tries):
            row = measurement(case, client)
            if best is None or row["foreign"] < best["foreign"]:
                best = row
            if best["foreign"] <= TOO_MUCH_FOREIGN:
                break
        return best

    def measure(self, case, client):
        kind = workload_of(case.name).runner
        if kind == "counts":
            return counts.measure(self, case, client)
        return self.quietest(self.start if kind == "coldstart" else self.request, case, client)


# MARK: Rounds

class Session:
    """All measurements of a run, in the order they are made: A B C, A B C."""

    def __init__(self, bench, cases, chosen, rounds, progress, time_limit=None):
        self.bench, self.cases, self.rounds, self.progress = bench, cases, rounds, progress
        self.deadline = time.monotonic() + time_limit if time_limit else None
        self.samples, self.skipped, self.failures = [], {}, {}
        self.pairs = [(case, CLIENTS[name]) for case in cases for name in case.clients if not chosen or name in chosen]

    def plan(self):
        """Leaves out what cannot be measured, with one line for each reason."""
        for case, client in list(self.pairs):
            reason = self.bench.obstacle(case, client)
            if reason:
                self.leave_out(case, client, reason)
        for reason, clients in self.skipped.items():
            note(f"skipping {', '.join(map(in_workloads, clients.items()))}: {reason}")

    def leave_out(self, case, client, reason):
        self.pairs.remove((case, client))
        workloads = self.skipped.setdefault(reason, {}).setdefault(client.title, [])
        name = workload_of(case.name).name
        if name not in workloads:
            workloads.append(name)

    def run(self):
        steps = [(number, case, client) for number in range(1, self.rounds + 1)
                 for case, client in self.pairs if number <= case.most_rounds]
        self.progress.begin([(case.name, client.name) for _, case, client in steps])
        for number, case, client in steps:
            if self.deadline and time.monotonic() > self.deadline:
                self.progress.say("time is up: the rest is left out")
                break
            if (case, client) in self.pairs:
                self.step(number, case, client)
            else:
                self.progress.step(case.name, client.name, None)
        self.progress.end()

    def step(self, number, case, client):
        row = None
        try:
            row = self.bench.measure(case, client)
            self.samples.append({**row, "case": case.name, "client": client.name, "round": number})
        except Unsupported as reason:
            if str(reason) not in self.skipped:
                self.progress.say(f"skipping {client.title} in {case.name}: {reason}")
            self.leave_out(case, client, str(reason))
        except Failed as reason:
            self.progress.say(f"{client.title} in {case.name}: {reason}")
            self.failures.setdefault(f"{case.name} {client.name}", str(reason))
            if isinstance(reason, TooSlow):
                self.pairs.remove((case, client))
        self.progress.step(case.name, client.name, row)


def in_workloads(entry):
    title, workloads = entry
    return f"{title} ({', '.join(workloads)})"
