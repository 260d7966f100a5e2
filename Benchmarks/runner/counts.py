"""Instructions and allocations per request: counted, not timed, and the same in every run."""
from .machine import CLIENT_CORE, has, pinned
from .programs import Unsupported, number_in, run

TALLY = "liballocations.so"


def measure(bench, case, client):
    """The difference of two run lengths, so that neither start nor warm-up is in it."""
    row = {}
    if has("valgrind"):
        row["instructions_req"] = per_request(bench, case, client, instructions)
    if (bench.programs / TALLY).exists():
        row["allocations_req"] = per_request(bench, case, client, allocations)
    if not row:
        raise Unsupported("valgrind is missing: ./dev setup --bench")
    return {"n": case.total, **row}


def per_request(bench, case, client, count):
    """Both lengths with the same warm-up."""
    counted, program = [], stripped(bench, client)
    for total in (case.total, 2 * case.total):
        command = list(map(str, bench.command(case, client)))
        place = command.index("--warm")
        command[place - 4], command[place - 2] = program, str(total)
        counted.append(count(bench, command))
    return (counted[1] - counted[0]) / case.total


def stripped(bench, client):
    """valgrind stumbles over debug information of Swift."""
    copy = bench.folder / f"{client.program}-stripped"
    if not copy.exists():
        run(["strip", "--strip-debug", "-o", copy, bench.programs / client.program])
    return str(copy)


def instructions(bench, command):
    """Without fair scheduling valgrind starves one of two threads."""
    valgrind = ["valgrind", "--tool=callgrind", "--fair-sched=yes", "--callgrind-out-file=/dev/null"]
    return number_in(r"Collected : (\d+)", pinned(CLIENT_CORE, [*valgrind, *command]))


def allocations(bench, command):
    return number_in(r"allocations[: ]+(\d+)", pinned(CLIENT_CORE, command), LD_PRELOAD=str(bench.programs / TALLY))
