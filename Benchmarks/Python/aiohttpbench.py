"""aiohttp's client, one thread as ours: GETs one after the other, beside a connection that its server floods. It takes
the arguments of arguments.h and prints the report of statistics.h.
"""
import argparse
import asyncio
import sys
import time

import aiohttp

from report import Report


def parse():
    parser = argparse.ArgumentParser(prog="aiohttpbench")
    parser.add_argument("url")
    parser.add_argument("total", type=int)
    parser.add_argument("concurrency", type=int, choices=[1])
    parser.add_argument("--flood", choices=["chunks", "fragments", "pings"])
    parser.add_argument("--warm", type=int, default=0)
    return parser.parse_args()


# MARK: The flood

async def take_chunks(session, url, has_begun):
    async with session.get(url) as response:
        has_begun.set()
        async for _ in response.content.iter_any():
            pass


async def take_frames(session, url, has_begun):
    async with session.ws_connect(url) as socket:
        has_begun.set()
        await socket.receive()
        sys.exit("aiohttpbench: a message of a flood")


async def flood(session, given, tasks):
    """Begins the flood, and returns when its server has answered."""
    if not given.flood:
        return
    url, has_begun = given.url.rsplit("/", 1)[0] + "/" + given.flood, asyncio.Event()
    take = take_chunks if given.flood == "chunks" else take_frames
    tasks.append(asyncio.create_task(take(session, url, has_begun)))
    await has_begun.wait()


# MARK: Requests

async def load(session, url):
    async with session.get(url) as response:
        if response.status != 200:
            sys.exit(f"aiohttpbench: status {response.status}")
        return len(await response.read())


async def measure(given):
    times, byte_count, tasks = [], 0, []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        await flood(session, given, tasks)
        for _ in range(given.warm):
            await load(session, given.url)
        report = Report("aiohttpbench")
        for _ in range(given.total):
            began = time.perf_counter()
            byte_count += await load(session, given.url)
            times.append(time.perf_counter() - began)
        report.write(times, byte_count)
        for task in tasks:
            task.cancel()


asyncio.run(measure(parse()))
