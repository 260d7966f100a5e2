"""W7: programs that make one request and end, timed from their start to their first output byte."""
import re
from pathlib import Path

from .machine import output_of


def command(bench, case, client, system):
    """`coldstart` starts the program a few times; its medians are one sample.

    All of it runs in the `system` that trusts the server, so that no program pays for getting there.
    """
    return [*system, bench.programs / "coldstart", case.total, bench.programs / client.program,
            bench.servers[case.server].url(case)]


def libraries_of(program):
    """How many shared objects the loader maps, and their size; a program may open more of them later."""
    files = re.findall(r"=> (/\S+) \(0x", output_of("ldd", str(program)))
    return {"shared_objects": len(files), "shared_mb": round(sum(Path(file).stat().st_size for file in files) / 1e6, 1)}
