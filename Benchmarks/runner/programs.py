"""Runs a client and reads its report."""
import json
import os
import re
import subprocess

UNKNOWN_OPTION = 2  # exit status


class Failed(Exception):
    """A client did not do what it was asked to."""


class TooSlow(Failed):
    """A client was not done in the time that the case gives it."""


class Unsupported(Exception):
    """A client does not know an option: its part is not written yet, or it cannot do this at all."""


def run(command, seconds=300, **environment):
    """A program's standard output and error, when it ended well."""
    command = list(map(str, command))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                              env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        raise TooSlow(f"not done after {seconds} s: {' '.join(command)}") from None
    if done.returncode == UNKNOWN_OPTION:
        raise Unsupported(last_line(done.stderr))
    if done.returncode != 0:
        raise Failed(f"ended with {done.returncode}: {last_line(done.stderr)}: {' '.join(command)}")
    return done.stdout, done.stderr


def last_line(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1].strip()[:160]


def report_of(command, seconds=300, **environment):
    """The last line of a program's output, which is its report as JSON."""
    out, _ = run(command, seconds, **environment)
    try:
        return json.loads(out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise Failed(f"printed no report: {' '.join(map(str, command))}") from None


def number_in(pattern, command, **environment):
    """A number that a program, or what runs it, writes to standard error."""
    _, errors = run(command, **environment)
    found = re.search(pattern, errors)
    if not found:
        raise Failed(f"nothing was counted: {errors.strip()[-200:] or 'it said nothing'}")
    return int(found.group(1).replace(",", ""))
