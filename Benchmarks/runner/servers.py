"""The servers of a run: nginx, a sink that takes uploads, one that sends the messages of WebSockets back, and one that
floods. All on core 0, on free loopback ports.
"""
import os
import socket
import subprocess
import time
from pathlib import Path

from .machine import HERE, SERVER_CORE, cpu_seconds_of, ends_with_us, fail, path_of_programs, pinned
from .trust import ADDRESSES

ECHO_MODULE = Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")
SLOW = 'location ~ ^/slow/([0-9]+)$ { echo_sleep $1; echo -n "0123456789012345678901234567890123456789"; }'


def free_ports(count):
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def waiting_for(condition, seconds=5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return None


class Server:
    """A child process. `pid` is the process that does the work."""
    addresses = ["127.0.0.1"]
    scheme = "http"

    def __enter__(self):
        self.log = open(self.folder / f"{self.name}.log", "w+")
        command = pinned(SERVER_CORE, ends_with_us(self.command()))
        self.process = subprocess.Popen(command, env=dict(os.environ, PATH=path_of_programs()), stdout=self.log,
                                        stderr=self.log, stdin=subprocess.DEVNULL)
        try:
            self.pid = waiting_for(self.working_process)
        except BaseException:
            self.__exit__()
            raise
        if not self.pid:
            self.__exit__()
            fail(f"{self.name} does not start: {self.last_words()}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def last_words(self):
        return (self.folder / f"{self.name}.log").read_text()[-300:].strip() or "it says nothing"

    def url(self, case, turn=0):
        """Measurements take turns with the addresses: closed connections block their ports for a minute."""
        scheme, port = ("https", self.ports[case.key]) if case.secure else (self.scheme, self.ports["plain"])
        return f"{scheme}://{self.addresses[turn % len(self.addresses)]}:{port}{case.path}"

    def cpu_seconds(self):
        return cpu_seconds_of(self.pid)


class Nginx(Server):
    """nginx with one worker."""
    name = "nginx"
    addresses = ADDRESSES

    def __init__(self, folder):
        self.folder = folder
        self.ports = dict(zip(("plain", "ec", "rsa"), free_ports(3)))
        (folder / "temp").mkdir()
        (folder / "nginx.conf").write_text(self.configuration())

    def listen_lines(self, port, suffix=""):
        return "".join(f"listen {address}:{port}{suffix} backlog=16384;\n" for address in ADDRESSES)

    def configuration(self):
        echo = ECHO_MODULE.exists()
        values = {
            "@FOLDER@": str(self.folder),
            "@USER@": "user root;" if os.geteuid() == 0 else "",
            "@ECHO@": f"load_module {ECHO_MODULE};" if echo else "",
            "@SLOW@": SLOW if echo else "",
            "@LISTEN_EC@": self.listen_lines(self.ports["plain"]) + self.listen_lines(self.ports["ec"], " ssl"),
            "@LISTEN_RSA@": self.listen_lines(self.ports["rsa"], " ssl"),
        }
        lines = (HERE / "nginx.conf.in").read_text().split("\n")
        text = "\n".join(line for line in lines if not line.startswith("#"))
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    def command(self):
        return ["nginx", "-p", self.folder, "-e", self.folder / "error.log", "-c", self.folder / "nginx.conf"]

    def working_process(self):
        if self.process.poll() is not None:
            fail(f"nginx does not start: {self.last_words()}")
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def last_words(self):
        errors = self.folder / "error.log"
        return (errors.read_text() if errors.exists() else "")[-300:].strip() or super().last_words()


class OwnServer(Server):
    """A program of ours, in one process. The last of its ports is the last that it listens on."""
    port_names = ("plain",)

    def __init__(self, folder, programs):
        self.folder, self.program = folder, programs / self.name
        self.ports = dict(zip(self.port_names, free_ports(len(self.port_names))))

    def working_process(self):
        if self.process.poll() is not None:
            fail(f"{self.name} does not start: {self.last_words()}")
        try:
            socket.create_connection((self.addresses[-1], self.ports[self.port_names[-1]])).close()
        except OSError:
            return None
        return self.process.pid


class Sink(OwnServer):
    """Reads and drops what is uploaded; nginx would store it first."""
    name = "sink"
    port_names = ("plain", "ec")

    def command(self):
        return [self.program, self.ports["plain"], self.ports["ec"], self.folder / "ec.crt", self.folder / "ec.key"]


class WebSocketEcho(OwnServer):
    """Sends every message back."""
    name = "wsecho"
    addresses = ADDRESSES
    scheme = "ws"

    def command(self):
        return [self.program, self.ports["plain"], *ADDRESSES]


class Flood(OwnServer):
    """Sends tiny pieces without end, and small answers beside them."""
    name = "flood"
    addresses = ADDRESSES

    def command(self):
        return [self.program, self.ports["plain"], *ADDRESSES]


OWN_SERVERS = (Sink, WebSocketEcho, Flood)
