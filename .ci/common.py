"""What the programs of ./dev share. They run in the folder of the repository."""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = str(os.cpu_count() or 1)
SWIFT_BUILD = ["swift", "build", "-j", JOBS]
SWIFT_TEST = ["swift", "test", "-j", JOBS, "--disable-xctest"]
# What is silent for ten minutes, hangs: it is ended, and says where.
WATCHED = [".ci/watch", "600"]
# The tests of a build, when `swift test` is not wanted in between.
PROGRAM, NATIVE = "swift-afnetworkingPackageTests.xctest", ["--testing-library", "swift-testing"]


def say(*words):
    print("==>", *words, file=sys.stderr, flush=True)


def fail(*words):
    sys.exit(f"{Path(sys.argv[0]).name}: {' '.join(map(str, words))}")


def run(command, log=None, shows=None, **environment):
    """Whether a command ends well. What it says goes to the file `log`, and to the terminal as far as `shows` wants it."""
    everything = os.environ | {name: str(value) for name, value in environment.items()}
    command = [str(word) for word in command]
    if log is None:
        return subprocess.run(command, cwd=ROOT, env=everything).returncode == 0
    with subprocess.Popen(command, cwd=ROOT, env=everything, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            log.write(line)
            log.flush()
            if shows is None or shows(line):
                sys.stdout.buffer.write(line)
                sys.stdout.flush()
    return process.returncode == 0


def must(command, **environment):
    if not run(command, **environment):
        fail(f"this failed, see above: {' '.join(map(str, command))}")


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def whole(least):
    """A number for argparse, of at most twelve digits."""
    def number(text):
        if not re.fullmatch(r"\d{1,12}", text) or int(text) < least:
            raise ValueError
        return int(text)
    number.__name__ = f"number from {least}"
    return number
