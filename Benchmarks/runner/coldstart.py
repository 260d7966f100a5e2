"""W7: programs that make one request and end, timed from their start to their first output byte."""
import re
from pathlib import Path

from .machine import CLIENT_CORE, output_of, pinned, wait_for_quiet
from .programs import report_of


def measure(bench, case, client):
    """`coldstart` starts the program a few times; its medians are one sample."""
    system = bench.own_system(case) or []
    program = bench.programs / client.program
    wait_for_quiet(bench.patience)
    command = [*system, bench.programs / "coldstart", case.total, program, bench.servers["nginx"].url(case)]
    row = report_of(pinned(CLIENT_CORE, command), seconds=120)
    return {**row, "rss_mib": row["rss_kb"] / 1024, **libraries_of(program)}


def libraries_of(program):
    """How many shared objects the loader maps, and their size; a program may open more of them later."""
    files = re.findall(r"(?:=> )?(/\S+) \(0x", output_of("ldd", str(program)))
    return {"shared_objects": len(files), "shared_mb": round(sum(Path(file).stat().st_size for file in files) / 1e6, 1)}
