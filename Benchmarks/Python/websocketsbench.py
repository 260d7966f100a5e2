"""The asyncio client of Python's `websockets`: WebSockets whose server sends every message back, and a coroutine for
each, which sends a message and awaits it. It takes the arguments of arguments.h and prints the report of statistics.h.
"""
import argparse
import asyncio
import json
import re
import resource
import sys
import time
from pathlib import Path

from websockets.asyncio.client import connect


def parse():
    parser = argparse.ArgumentParser(prog="websocketsbench")
    parser.add_argument("url")
    parser.add_argument("total", type=int)
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--message", type=int, required=True)
    parser.add_argument("--warm", type=int, default=0)
    return parser.parse_args()


# MARK: Messages

class Run:
    """Hands out the messages of one run, and keeps how long each took in seconds."""

    def __init__(self, total, message):
        self.message, self.claimed, self.times = message, 0, [0.0] * total

    async def echo(self, sockets):
        await asyncio.gather(*(self.loop(socket) for socket in sockets))

    async def loop(self, socket):
        while self.claimed < len(self.times):
            place = self.claimed
            self.claimed += 1
            began = time.perf_counter()
            await socket.send(self.message)
            if len(await socket.recv()) != len(self.message):
                sys.exit("websocketsbench: not the message that was sent")
            self.times[place] = time.perf_counter() - began


# MARK: The report

def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kilobytes(path, key):
    return int(re.search(rf"^{key}:\s*(\d+)", Path(path).read_text(), re.MULTILINE).group(1))


async def measure(given):
    message = bytes(index * 31 & 255 for index in range(given.message))
    sockets = [await connect(given.url, compression=None, max_size=None) for _ in range(given.concurrency)]
    await Run(given.warm, message).echo(sockets)
    start_rss = kilobytes("/proc/self/smaps_rollup", "Rss")
    start_cpu, start, run = cpu_seconds(), time.perf_counter(), Run(given.total, message)
    await run.echo(sockets)
    cpu, wall, n = cpu_seconds() - start_cpu, time.perf_counter() - start, given.total
    times = sorted(run.times)
    percentiles = {name: round(times[int(n * share)] * 1e6, 1)
                   for name, share in (("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999))}
    print(json.dumps({
        "client": "websocketsbench", "n": n, "rps": round(n / wall, 1), "cpu_us_req": round(cpu * 1e6 / n, 3),
        **percentiles, "rss_kb": kilobytes("/proc/self/status", "VmHWM"), "rss_start_kb": start_rss,
        "wall_s": round(wall, 4), "bytes": n * given.message,
    }))
    await asyncio.gather(*(socket.close() for socket in sockets))


asyncio.run(measure(parse()))
