"""The machine: its cores, how busy it is, and what is installed on it."""
import os
import platform
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
QUIET = 0.1  # cores
MISSING = "not installed"
HERE = Path(__file__).resolve().parent.parent
REPOSITORY = HERE.parent
PYTHON = REPOSITORY / ".build" / "bench" / "python" / "bin" / "python"  # with the packages of ./dev setup --bench
BACKPORTS = REPOSITORY / ".build" / "bench" / "backports" / "usr"  # unpacked by ./dev setup --bench


def fail(message):
    sys.exit(f"bench: {message}")


def note(message):
    print(f"bench: {message}", file=sys.stderr, flush=True)


def pinned(core, command):
    """The command on one core, with the usual priority: at nice -20 the threads of a client preempt each other."""
    return ["taskset", "-c", str(core), *map(str, command)]


def ends_with_us(command):
    """A server that does not outlive the runner, however that ends."""
    return ["setpriv", "--pdeathsig", "TERM", *command] if has("setpriv") else command


def has(program):
    return any(os.access(folder + "/" + program, os.X_OK) for folder in path_of_programs().split(":"))


def path_of_programs():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def file_text(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


# MARK: Cores

def numbers_in(text):
    """The kernel's way to write lists: 0-2,5"""
    ranges = [part.split("-") for part in text.strip().split(",") if part]
    return [number for part in ranges for number in range(int(part[0]), int(part[-1]) + 1)]


def two_cores(allowed, siblings_of):
    """One for the server and one for the client: real ones where there are, not two threads of the same."""
    server, *others = sorted(allowed)
    siblings = siblings_of(server)
    real = [core for core in others if core not in siblings]
    return server, (real or others or [server])[0]


def siblings_of(core):
    return numbers_in(file_text(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"))


def cores():
    return len(os.sched_getaffinity(0))


SERVER_CORE, CLIENT_CORE = two_cores(os.sched_getaffinity(0), siblings_of)


def raise_descriptor_limit(wanted):
    """Every connection needs a descriptor, here and in the programs started from here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for ceiling in (max(hard, wanted), hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, ceiling), ceiling))
            break
        except (ValueError, OSError):
            continue
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


# MARK: Load

def busy_seconds():
    """CPU time all programs have used since the machine started."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / TICK


def cpu_seconds_of(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def wait_for_quiet(patience):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(0.25)
        if (busy_seconds() - before) / 0.25 < QUIET:
            return


# MARK: Facts

def output_of(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20,
                              env=dict(os.environ, PATH=path_of_programs()))
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).strip() if done.returncode == 0 else ""


def first_match(pattern, text, otherwise="unknown"):
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else otherwise


def machine_facts():
    gib = first_match(r"MemTotal:\s+(\d+)", file_text("/proc/meminfo"), "0")
    return {
        "processor": first_match(r"model name\s*:\s*(.*)", file_text("/proc/cpuinfo"), platform.machine()),
        "cores": cores(),
        "share_a_core": CLIENT_CORE in siblings_of(SERVER_CORE),
        "memory_gib": round(int(gib) / 1048576, 1),
        "system": first_match(r'PRETTY_NAME="?([^"\n]*)', file_text("/etc/os-release")),
        "kernel": platform.release(),
        "roots": file_text("/etc/ssl/certs/ca-certificates.crt").count("BEGIN CERTIFICATE"),
        "virtual": "hypervisor" in file_text("/proc/cpuinfo"),
        "congestion_control": file_text("/proc/sys/net/ipv4/tcp_congestion_control").strip(),
    }


def libcurl_version(configuration):
    return first_match(r"libcurl (\S+)", output_of(configuration, "--version"), MISSING)


def crate_version(name):
    """What cargo chose when it last built."""
    lock = file_text(HERE / "Rust" / "Cargo.lock")
    return first_match(rf'name = "{name}"\nversion = "(.*)"', lock, "not built")


def version_facts():
    return {
        "OpenSSL": first_match(r"OpenSSL (\S+)", output_of("openssl", "version")),
        "nginx": first_match(r"nginx/(\S+)", output_of("nginx", "-v")),
        "libcurl": libcurl_version("curl-config"),
        "newer libcurl": libcurl_version(BACKPORTS / "bin" / "curl-config"),
        "Go": first_match(r"go(\d\S+)", output_of(next(BACKPORTS.glob("lib/go-*/bin/go"), "go"), "version"), MISSING),
        "Node": first_match(r"v(\S+)", output_of("node", "--version"), MISSING),
        "undici": first_match(r'"version": "(.*)"', file_text("/usr/share/nodejs/undici/package.json"), MISSING),
        **{name: crate_version(name) for name in ("hyper", "tokio", "rustls")},
        "rustc": first_match(r"rustc (\S+)", output_of("/usr/bin/rustc", "--version"), MISSING),
        "Swift": first_match(r"Swift version (\S+)", output_of("swift", "--version")),
        "gcc": first_match(r"(\d+\.\d+\.\d+)$", output_of("gcc", "-dumpfullversion")),
        "Python": platform.python_version(),
        **{name: output_of(PYTHON, "-c", f"import {name}; print({name}.__version__)") or MISSING
           for name in ("websockets", "aiohttp")},
    }


def revision():
    return output_of("git", "-C", str(HERE), "describe", "--always", "--dirty") or "unknown"
