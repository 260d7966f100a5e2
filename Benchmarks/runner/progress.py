"""What is told while a run works: one rewriting line on a terminal, plain lines elsewhere."""
import shutil
import sys
import time

from .clients import CLIENTS
from .workloads import CASES, METRICS

GUESS = 2.0  # seconds for a measurement, before there was one


def in_words(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


class Progress:
    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.rewrites = self.stream.isatty()
        self.spent = {}  # (case, client): seconds of its last measurement
        self.ahead, self.total = [], 0

    def begin(self, steps):
        self.ahead, self.total, self.last = list(steps), len(steps), time.monotonic()
        if self.rewrites and steps:
            self.show("starting")

    def step(self, case, client, row):
        now = time.monotonic()
        self.spent[case, client] = now - self.last
        self.last = now
        self.ahead.pop(0)
        self.show(describe(case, client, row))

    def show(self, text):
        done = self.total - len(self.ahead)
        line = f"{100 * done // max(1, self.total):3} %  {in_words(self.time_left())} left  {text}"
        if self.rewrites:
            width = shutil.get_terminal_size().columns - 1
            self.write("\r\x1b[K" + line[:width])
        else:
            self.write(f"[{done}/{self.total}] {line}\n")

    def time_left(self):
        known = list(self.spent.values())
        typical = sum(known) / len(known) if known else GUESS
        return sum(self.spent.get(step, typical) for step in self.ahead)

    def say(self, text):
        self.write(("\r\x1b[K" if self.rewrites else "") + f"bench: {text}\n")

    def end(self):
        if self.rewrites:
            self.write("\r\x1b[K")

    def write(self, text):
        self.stream.write(text)
        self.stream.flush()


def describe(case, client, row):
    metric = METRICS[CASES[case].metric]
    name = f"{case} {CLIENTS[client].title}"
    value = row.get(CASES[case].metric) if row else None
    if value is None:
        return name
    foreign = f", others {row['foreign']:.2f} core" if "foreign" in row else ""
    return f"{name}: {value:,.{metric.decimals}f} {metric.unit}".rstrip() + foreign
