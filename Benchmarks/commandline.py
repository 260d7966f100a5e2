#!/usr/bin/env python3
"""A command-line client as a client of the benchmark: one process loads all URLs, given as arguments.

usage: commandline.py TOOL URL TOTAL CONCURRENCY [--ca FILE] [--warm 0]

TOOL is afnet, by its path, or curl. The report counts the whole process, its start included. There are no latencies:
neither program tells the time of a single request so that it costs nothing.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time

ARGUMENT_LIMIT = 1_500_000  # bytes; Linux takes 2 MiB, the pointers included


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("url")
    parser.add_argument("total", type=int)
    parser.add_argument("concurrency", type=int)
    parser.add_argument("--ca")
    parser.add_argument("--warm", type=int, choices=[0])  # another process would not warm this one up
    arguments, others = parser.parse_known_args()
    if others:
        refuse(f"a command line does not do {' '.join(others)}")
    total = min(arguments.total, ARGUMENT_LIMIT // (len(arguments.url) + 40))
    command = [arguments.tool, "-s", "-S", "-f", "-Z", "--parallel-max", str(arguments.concurrency)]
    if arguments.ca:
        command += ["--cacert", arguments.ca]
    for _ in range(total):
        command += ["-o", "/dev/null", arguments.url]
    began = time.monotonic()
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    wall = time.monotonic() - began
    if status != 0:
        sys.exit(f"{arguments.tool} ended with {status}")
    print(json.dumps(report(arguments.tool, total, wall)))


def report(tool, total, wall):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "client": os.path.basename(tool), "n": total, "rps": round(total / wall, 1), "wall_s": round(wall, 4),
        "cpu_us_req": round((used.ru_utime + used.ru_stime) * 1e6 / total, 3), "rss_kb": used.ru_maxrss,
    }


def refuse(reason):
    print(f"commandline.py: {reason}", file=sys.stderr)
    sys.exit(2)


main()
