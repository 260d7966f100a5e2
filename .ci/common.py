"""What the programs of ./dev share. They run in the folder of the repository."""
import json
import os
import re
import shutil
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


def logged(command, log, shows=None, **environment):
    """Whether a command ends well, and what it said, which is in the file `log` then."""
    (ROOT / log).parent.mkdir(parents=True, exist_ok=True)
    with (ROOT / log).open("wb") as file:
        good = run(command, file, shows, **environment)
    return good, (ROOT / log).read_text(errors="replace")


def must_test(command, log, **environment):
    """`swift test` is content when a filter matches nothing; this is not."""
    good, text = logged(command, log, **environment)
    some = re.search(r"Test run with [1-9]", text)
    if not good or not some:
        fail("a test failed, see above" if some else "no test ran: --filter needs a name of tests that there are")


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def last_tag():
    """The newest release; None before the first."""
    tags = output_of("git", "tag", "--sort=version:refname").split()
    return next((tag for tag in reversed(tags) if re.fullmatch(r"\d+\.\d+\.\d+", tag)), None)


def whole(least):
    """A number for argparse, of at most twelve digits."""
    def number(text):
        if not re.fullmatch(r"\d{1,12}", text) or int(text) < least:
            raise ValueError
        return int(text)
    number.__name__ = f"number from {least}"
    return number


def tool(name):
    """A program of the toolchain, which is not always on PATH."""
    paths = json.loads(output_of("swift", "-print-target-info"))["paths"]
    path = Path(paths["runtimeResourcePath"]).parent.parent / "bin" / name
    return path if path.exists() else fail(f"the Swift toolchain has no {name}: install a complete one from "
                                           "https://www.swift.org/install")


def symbol_graphs(folder, *modules):
    """What the symbol graphs of built modules say of their public declarations. They are written into an empty folder."""
    shutil.rmtree(ROOT / folder, ignore_errors=True)
    (ROOT / folder).mkdir(parents=True)
    build = Path(output_of("swift", "build", "--show-bin-path"))
    options = [f"-fmodule-map-file={each}" for each in (*build.glob("*.build/module.modulemap"),
                                                        *ROOT.glob("Sources/*/module.modulemap"))]
    # A C module of ours includes another's header.
    options += [f"-I{each}" for each in ROOT.glob("Sources/*/include")]
    target = json.loads(output_of("swift", "-print-target-info"))["target"]["unversionedTriple"]
    for module in modules:
        must([tool("swift-symbolgraph-extract"), "-module-name", module, "-output-dir", folder, "-minimum-access-level",
              "public", "-emit-extension-block-symbols", "-I", build / "Modules", "-target", target,
              *(word for each in options for word in ("-Xcc", each))])
    return [json.loads(path.read_text()) for path in sorted((ROOT / folder).glob("*.symbols.json"))]
