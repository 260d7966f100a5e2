"""The report of statistics.h: latencies, and what the process has used."""
import json
import re
import resource
import time
from pathlib import Path


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kilobytes(path, key):
    return int(re.search(rf"^{key}:\s*(\d+)", Path(path).read_text(), re.MULTILINE).group(1))


class Report:
    """Begins with what is measured, and is printed at its end."""

    def __init__(self, client):
        self.client = client
        self.start_rss = kilobytes("/proc/self/smaps_rollup", "Rss")
        self.start_cpu, self.start = cpu_seconds(), time.perf_counter()

    def write(self, times, byte_count):
        """Prints it. The times are in seconds, one for each request."""
        cpu, wall = cpu_seconds() - self.start_cpu, time.perf_counter() - self.start
        times, n = sorted(times), len(times)
        percentiles = {name: round(times[int(n * share)] * 1e6, 1)
                       for name, share in (("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999))}
        print(json.dumps({
            "client": self.client, "n": n, "rps": round(n / wall, 1), "cpu_us_req": round(cpu * 1e6 / n, 3),
            **percentiles, "rss_kb": kilobytes("/proc/self/status", "VmHWM"), "rss_start_kb": self.start_rss,
            "wall_s": round(wall, 4), "bytes": byte_count,
        }))
