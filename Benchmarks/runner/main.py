"""The command line."""
import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import plots, publishing, selftest
from .clients import CLIENTS, GROUPS, named
from .machine import HERE, REPOSITORY, cores, fail, note, revision
from .measuring import Bench, Session
from .progress import Progress, in_words
from .results import Results, document_of, load, save
from .tables import plain_text
from .workloads import QUICK, WORKLOADS, chosen_cases

PROGRAMS = REPOSITORY / ".build/bench/programs"
QUICK_SECONDS, QUICK_ROUNDS, ROUNDS = 95, 3, 5


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures us beside our peers and the limit.")
    parser.add_argument("--quick", action="store_true", help="less of everything, in under two minutes")
    parser.add_argument("--rounds", type=int, help=f"how often each measurement is made; default {ROUNDS}")
    parser.add_argument("--clients", help="some only, separated by commas; --list names them")
    parser.add_argument("--list", action="store_true", help="name the workloads and clients")
    parser.add_argument("--plot", type=Path, metavar="FILE.json", help="draw a saved result again, beside its file")
    parser.add_argument("--publish", type=Path, metavar="FILE.json", help="put a saved result into Docs/Benchmarks")
    parser.add_argument("--self-test", action="store_true", help="test this program; measures nothing")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; default all")
    return checked(parser.parse_args(words))


def checked(arguments):
    default = QUICK if arguments.quick else WORKLOADS
    arguments.workloads = [name.lower() for name in arguments.workloads] or list(default)
    for name in arguments.workloads:
        if name not in WORKLOADS:
            fail(f"no workload {name}: there are {', '.join(WORKLOADS)}")
        if arguments.quick and name not in QUICK:
            fail(f"{name} has no quick form: leave --quick out, or choose of {', '.join(QUICK)}")
    arguments.chosen, unknown = named(arguments.clients.split(",") if arguments.clients else [])
    if unknown:
        fail(f"no client {unknown}: there are {', '.join([*GROUPS, *CLIENTS])}")
    if arguments.rounds is not None and arguments.rounds < 1:
        fail("--rounds is at least 1")
    return arguments


def list_names():
    print("workloads")
    for workload in WORKLOADS.values():
        quick = ", also --quick" if workload.name in QUICK else ""
        print(f"  {workload.name:18} {workload.title.format(size='1 GiB')}{quick}")
        for case in workload.cases:
            print(f"    {case.name:20} {case.title}")
    print("\nclients")
    for client in CLIENTS.values():
        print(f"  {client.name:18} {client.title}")
    print("\ngroups of clients")
    for name, members in GROUPS.items():
        print(f"  {name:18} {', '.join(members)}")


def needed_programs(arguments, cases):
    names = {name for case in cases for name in case.clients if not arguments.chosen or name in arguments.chosen}
    runners = {WORKLOADS[name].runner for name in arguments.workloads}
    tools = {"sink", "wsecho", "flood"} & {case.server for case in cases} | {"coldstart"} & runners
    counted = {"liballocations.so"} if "counts" in runners else set()
    return sorted({CLIENTS[name].program for name in names} | tools | counted)


def build(programs):
    """Installs what is missing, and builds. What cannot be built is left out of the run."""
    if subprocess.run(["./dev", "setup", "--bench"], cwd=REPOSITORY).returncode != 0:
        fail("./dev setup --bench fails, see above")
    # Twice, because SwiftPM sees new files of a package it depends on only after it has failed without them.
    for _ in range(2):
        if subprocess.run(["Benchmarks/build", PROGRAMS, *programs], cwd=REPOSITORY).returncode == 0:
            return
    note("not everything could be built: what is missing is left out below")


# MARK: Measuring

def work_folder(size):
    """Transfers must not wait for a disk."""
    memory = Path("/dev/shm")
    if memory.is_dir() and free_bytes(memory) > 3 * size + (1 << 28):
        return memory
    if size:
        note("/dev/shm is too small for the files of w3 and w5: they go to the disk, whose speed will show")
    return None


def free_bytes(folder):
    return shutil.disk_usage(folder).free


def measure(arguments):
    cases = chosen_cases(arguments.workloads, arguments.quick)
    build(needed_programs(arguments, cases))
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
    if cores() < 2:
        note("one core only: server and client share it, so expect noise")
    limit = QUICK_SECONDS if arguments.quick else None
    place = work_folder(max(case.size for case in cases))
    with tempfile.TemporaryDirectory(prefix="afnet-bench.", dir=place) as folder, \
            Bench(PROGRAMS, folder, cases, arguments.quick) as bench:
        session = Session(bench, cases, arguments.chosen, rounds, Progress(), limit)
        session.plan()
        announce(session, arguments, rounds)
        # Of what was built, though somebody commits meanwhile.
        measured = revision()
        began = time.monotonic()
        try:
            session.run()
        except KeyboardInterrupt:
            session.failures["interrupted"] = "this is what was measured until then"
    if not session.samples:
        fail("nothing was measured")
    document = document_of(session.samples, measured, quick=arguments.quick, rounds=rounds, cases=cases,
                           failures=session.failures, skipped=session.skipped)
    report(document, arguments, time.monotonic() - began)
    return 1 if session.failures else 0


def announce(session, arguments, rounds):
    if not session.pairs:
        fail("nothing is left to measure")
    most = "at most " if arguments.quick else ""
    names = dict.fromkeys(client.title for _, client in session.pairs)
    print(f"Measuring {', '.join(arguments.workloads)}: {len(session.pairs)} pairs of a case and a client, "
          f"{most}{rounds} interleaved rounds; server on one core, client on another.\n"
          f"Clients: {', '.join(names)}.", flush=True)
    if arguments.quick:
        print(f"Ends within {in_words(QUICK_SECONDS + 25)}. A first look: only a full run on a quiet machine decides.",
              flush=True)
    else:
        print("Every measurement waits for a quiet machine; a noisy one is repeated twice at most.", flush=True)


def report(document, arguments, seconds):
    print("\n" + plain_text(Results(document)))
    for name, reason in document["failures"].items():
        note(f"{name}: {reason}")
    words = "-".join(arguments.workloads) if len(arguments.workloads) < len(WORKLOADS) else "all"
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{words}-{document['revision']}"
    file = HERE / "Results" / f"{name}.json"
    save(document, file)
    folder = file.with_suffix("")
    drawn = plots.draw_all(Results(document), folder)
    shown = file.relative_to(REPOSITORY)
    print(f"\nmeasured in {in_words(seconds)}; saved as {shown}, {len(drawn)} plots in {shown.with_suffix('')}/\n"
          f"./dev bench --publish {shown} puts both into Docs/Benchmarks")


# MARK: Entry

def redraw(path):
    drawn = plots.draw_all(Results(load(path)), path.with_suffix(""))
    print("\n".join(str(file) for file in drawn))


def stop(*_):
    """A polite kill leaves no server behind either."""
    raise KeyboardInterrupt


def run(words):
    signal.signal(signal.SIGTERM, stop)
    arguments = parse_arguments(words)
    if arguments.self_test:
        return selftest.run()
    if arguments.list:
        return list_names()
    if arguments.plot:
        return redraw(arguments.plot)
    if arguments.publish:
        return publishing.publish(arguments.publish)
    return measure(arguments)


def main():
    try:
        sys.exit(run(sys.argv[1:]))
    except ValueError as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("interrupted")
    except BrokenPipeError:
        sys.stdout = None  # whoever read us has seen enough
