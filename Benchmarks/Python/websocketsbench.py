"""The asyncio client of Python's `websockets`: WebSockets whose server sends every message back, and a coroutine for
each, which sends a message and awaits it. It takes the arguments of arguments.h and prints the report of statistics.h.
"""
import argparse
import asyncio
import sys
import time

from websockets.asyncio.client import connect

from report import Report


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


async def measure(given):
    message = bytes(index * 31 & 255 for index in range(given.message))
    sockets = [await connect(given.url, compression=None, max_size=None) for _ in range(given.concurrency)]
    await Run(given.warm, message).echo(sockets)
    report, run = Report("websocketsbench"), Run(given.total, message)
    await run.echo(sockets)
    report.write(run.times, given.total * given.message)
    await asyncio.gather(*(socket.close() for socket in sockets))


asyncio.run(measure(parse()))
