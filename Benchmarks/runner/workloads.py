"""What is measured: workloads made of cases, and the bars they are held to."""
from dataclasses import dataclass, field, replace

from .clients import CLIENTS, KNOWN, LIMIT

GIB, MIB = 1 << 30, 1 << 20
QUICK_TRANSFER = 1 << 28
STYLES = ("completion", "delegate", "async", "executor", "network")
UNCACHED = ("completion-uncached", "delegate-uncached", "async-uncached")
# The same GET through everything that is built on the network thread, from the lowest layer to the highest.
LAYERS = ("network", "connection", "completion", "url", "delegate", "async", "manager", "manager-queue", "manager-async",
          "manager-blocked", "operation", "afnet")
ONE_BY_ONE = ("blocking", "network", "completion", "delegate", "async", "manager", "manager-queue", "manager-async",
              "operation")
TRUST_THE_SYSTEM = ("connection", "operation", "blocking")  # their session is shared, and knows the system's authorities only
IDLE_PEERS = ("libcurl", "hyper", "foundation")  # those that can count what an idle connection takes
PEERS = ("libcurl", "libcurl-new", "go", "hyper", "undici", "foundation")
MESSAGE_STYLES = ("completion", "network", "async", "executor")  # those that WebSockets are measured in
MESSAGE_PEERS = ("undici", "websockets")
FLOODS = {  # flood: (title, the peers that know what is flooded)
    "none": ("no flood", ("go", "hyper", "aiohttp")),
    "chunks": ("chunks of one byte", ("go", "hyper", "aiohttp")),
    "fragments": ("empty WebSocket fragments", ("aiohttp",)),
    "pings": ("WebSocket pings", ()),
}
KNOWN_HOSTS = tuple(f"known-{kind}" for kind in KNOWN if kind not in ("stored", "beside"))
TAGS = {"plain": "plain", "tls": "TLS"}
STARTERS = ("hello-c", "hello-swift-static", "hello-swift", "hello-curl", "hello-fn")


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    title: str
    clients: tuple
    path: str = "/small"
    total: int = 1
    concurrency: int = 1
    connections: int = 0  # beside those in flight
    warm: int = 0
    secure: bool = False
    server: str = "nginx"  # nginx, sink, wsecho or flood
    key: str = "ec"  # the server's certificate: ec or rsa
    roots: str = "one"  # the authorities a client trusts: one or many
    options: tuple = ()  # {out} and {file} are files of the run
    size: int = 0  # bytes of one transfer, or of a large message
    shares: dict = field(default_factory=dict)  # client: its share of the total, when not the client's own
    most_rounds: int = 99  # where the figure hardly moves
    seconds: int = 300  # what is not done by then is left out of the rounds that follow
    metric: str = "cpu_us_req"
    ours: str = None  # which of ours stands beside the peers; None: the first
    quick: dict = None  # what --quick changes; None leaves the case out

    @property
    def beside_peers(self):
        return self.ours or next((name for name in self.clients if CLIENTS[name].kind == "ours"), None)

    def count_for(self, client):
        own = 1 if self.size else client.share
        return max(1, int(self.total * self.shares.get(client.name, own)))

    def warm_for(self, client):
        return self.warm * client.warms


@dataclass(frozen=True)
class Column:
    title: str
    key: str
    decimals: int = 0


@dataclass(frozen=True)
class Metric:
    """The figure that decides a case."""
    title: str
    unit: str
    decimals: int
    axis: str  # what stands beside a scale
    higher_is_better: bool = False


METRICS = {
    "cpu_us_req": Metric("CPU per request", "µs", 2, "µs each"),
    "cpu_us_message": Metric("CPU per message", "µs", 2, "µs each"),
    "mib_s": Metric("throughput", "MiB/s", 0, "MiB/s", higher_is_better=True),
    "cpu_s_gb": Metric("CPU per GB", "s", 3, "s per GB"),
    "p50_us": Metric("median latency", "µs", 1, "µs"),
    "p99_us": Metric("latency of the slowest hundredth", "µs", 1, "µs"),
    "idle_kib": Metric("memory per idle connection", "KiB", 1, "KiB each"),
    "first_ms": Metric("start to first response", "ms", 2, "ms"),
    "rps": Metric("requests per second", "per s", 0, "per second", higher_is_better=True),
    "instructions_req": Metric("instructions per request", "", 0, "each"),
    "allocations_req": Metric("allocations per request", "", 1, "each"),
    "growth_mib": Metric("memory above idle", "MiB", 1, "MiB"),
    "rss_mib": Metric("resident memory", "MiB", 1, "MiB"),
    "idle_kib_2": Metric("after a second request", "KiB", 1, "KiB each"),
}


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    cases: tuple
    columns: tuple
    runner: str = "requests"  # requests, coldstart or counts

    @property
    def metric(self):
        return METRICS[self.cases[0].metric]

    @property
    def parts(self):
        """A workload for each of the figures that decide, most often one."""
        names = dict.fromkeys(case.metric for case in self.cases)
        return [replace(self, cases=tuple(case for case in self.cases if case.metric == name)) for name in names]


# MARK: Columns

LATENCY = (Column("p50 µs", "p50_us", 1), Column("p99 µs", "p99_us", 1), Column("p99.9 µs", "p999_us", 1))
MEMORY = (Column("RSS MiB", "rss_mib", 1),)
PER_REQUEST = (Column("req/s", "rps"), *LATENCY, *MEMORY, Column("server µs", "server_us_req", 2))
PER_TRANSFER = (Column("MB/s", "mb_s"), Column("grows MiB", "growth_mib", 1), *MEMORY)
PER_CONNECTION = (Column("conn/s", "rps"), *LATENCY, *MEMORY, Column("server µs", "server_us_req", 1))
PER_IDLE = (Column("2nd KiB", "idle_kib_2", 1), Column("open", "open"), *MEMORY)
PER_MESSAGE = (Column("messages/s", "rps"), Column("CPU s/GB", "cpu_s_gb", 3), *LATENCY, *PER_IDLE,
               Column("server µs", "server_us_req", 2))
BESIDE_FLOOD = (*LATENCY[1:], Column("req/s", "rps"), *MEMORY)
PER_START = (Column("CPU ms", "cpu_ms", 2), *MEMORY, Column("libraries", "shared_objects"),
             Column("their MB", "shared_mb", 1))


# MARK: Cases

def limits(secure):
    """The one on io_uring knows plain connections only."""
    return (LIMIT,) if secure else (LIMIT, "ceil-uring")


def small_gets(prefix, secure):
    """W1 and W2."""
    for flight in (1, 16, 64, 256):
        yield Case(name=f"{prefix}-{flight}", title=f"{flight} in flight", secure=secure, concurrency=flight,
                   total=20_000 if flight == 1 else 80_000, warm=max(500, 4 * flight),
                   clients=(*limits(secure), *STYLES, *UNCACHED, *PEERS),
                   quick={"total": 24_000, "warm": 400} if flight == 64 else None)


def crowded_gets():
    yield Case(name="w1-10000", title="10,000 in flight", concurrency=10_000, total=80_000, warm=20_000,
               clients=(*limits(False), "completion", "libcurl"))


def layered_gets():
    """W10."""
    for tag, secure in (("plain", False), ("tls", True)):
        layers = [layer for layer in LAYERS if not secure or layer not in TRUST_THE_SYSTEM]
        yield Case(name=f"w10-{tag}", title=f"64 in flight, {TAGS[tag]}", secure=secure, concurrency=64, total=40_000,
                   warm=500, ours="manager", clients=(LIMIT, *layers, *PEERS, "curl"),
                   quick=None if secure else {"total": 12_000, "warm": 400})
    yield Case(name="w10-one", title="one in flight, plain", total=20_000, warm=500, ours="manager",
               clients=(LIMIT, *ONE_BY_ONE, *PEERS))


def downloads():
    """W3. The whole body as one value is not among them: no client is meant for 1 GiB of that."""
    drops, stores = ("delegate", "network-delegate", "discard"), ("completion",)
    for tag, secure in (("plain", False), ("tls", True)):
        common = dict(path="/big", total=2, secure=secure, size=GIB, metric="cpu_s_gb",
                      quick={"size": QUICK_TRANSFER, "total": 1})
        yield Case(name=f"w3-{tag}", title=f"{TAGS[tag]}, dropped", clients=(*limits(secure), *drops, *PEERS), **common)
        yield Case(name=f"w3-{tag}-file", title=f"{TAGS[tag]}, to a file", options=("--out", "{out}"),
                   clients=(*limits(secure), *stores, *PEERS), **common)


def connections():
    """W4."""
    clients = (LIMIT, "completion", *PEERS)
    common = dict(path="/close", concurrency=8, clients=clients)
    few = {"libcurl": 0.1, "foundation": 0.05}  # they may read all roots again for every connection
    yield Case(name="w4-plain", title="plain", total=15_000, warm=100, options=("--close",),
               shares={"foundation": 0.2}, quick={"total": 4_000}, **common)
    for tag, title, options, total in (("full", "full handshake", ("--close",), 2_500),
                                       ("resumed", "resumed", ("--close", "--resume"), 4_000)):
        yield Case(name=f"w4-{tag}", title=title, total=total, warm=50, secure=True, options=options,
                   shares={"foundation": 0.4}, quick={"total": total // 4}, **common)
        yield Case(name=f"w4-{tag}-roots", title=f"{title}, system roots trusted", total=total, warm=20, secure=True,
                   options=options, roots="many", shares=few, **common)
    yield Case(name="w4-full-rsa", title="full handshake, RSA-2048", total=2_500, warm=50, secure=True, key="rsa",
               options=("--close",), shares={"foundation": 0.4}, **common)


def uploads():
    """W5."""
    for tag, secure in (("plain", False), ("tls", True)):
        for body, title, options in (("file", "from a file", ("--upload", "{file}")),
                                     ("stream", "from a stream", ("--upload-stream", "{size}"))):
            yield Case(name=f"w5-{tag}-{body}", title=f"{TAGS[tag]}, {title}", path="/", server="sink", total=2,
                       size=GIB, secure=secure, options=options, metric="cpu_s_gb",
                       clients=(LIMIT, "completion", *PEERS), shares={"foundation": 0.5, "undici": 0.5})


def idle_connections():
    """W6. The answer is so late that all connections are open before the first one arrives."""
    for count, waits in ((1_000, (2, 4)), (10_000, (5, 18))):
        for (tag, secure), seconds in zip((("plain", False), ("tls", True)), waits):
            yield Case(name=f"w6-{tag}-{count}", title=f"{count:,} connections, {TAGS[tag]}", path=f"/slow/{seconds}",
                       total=count, concurrency=count, secure=secure, options=("--idle",), metric="idle_kib",
                       most_rounds=2, clients=(LIMIT, "completion", *IDLE_PEERS), shares={"foundation": 1})


def cold_starts():
    """W7."""
    for tag, secure in (("http", False), ("https", True)):
        yield Case(name=f"w7-{tag}", title=tag + (", trusting the system's roots" if secure else ""), secure=secure,
                   total=7, metric="first_ms", roots="many", clients=STARTERS)


def pipelines():
    """W8."""
    for tag, title, flight, options in (("one", "one after the other, one connection", 1, ()),
                                        ("eight", "8 in flight, 8 connections", 8, ()),
                                        ("pipelined", "8 in flight, one connection", 8, ("--pipeline",))):
        yield Case(name=f"w8-{tag}", title=title, total=20_000 if flight == 1 else 80_000, warm=500, metric="rps",
                   concurrency=flight, options=options, clients=(LIMIT, "completion"))


def pinned_handshakes():
    """W9."""
    for tag, title in (("none", "no pins"), ("spki", "public keys pinned"), ("certificate", "certificates pinned")):
        pins = () if tag == "none" else ("--pins", tag)
        yield Case(name=f"w9-{tag}", title=title, path="/close", secure=True, total=2_500, warm=50, concurrency=8,
                   options=("--close", *pins), clients=(LIMIT, "completion"))


def messages():
    """W11. The server sends every message back, and each WebSocket has one under way."""
    yield Case(name="w11-64", title="64 bytes, 64 WebSockets", path="/", server="wsecho", concurrency=64, total=80_000,
               warm=1_000, options=("--message", "64"), metric="cpu_us_message",
               clients=(LIMIT, *MESSAGE_STYLES, *MESSAGE_PEERS), quick={"total": 24_000, "warm": 400})
    yield Case(name="w11-large", title="1 MiB, one WebSocket", path="/", server="wsecho", total=3_000, warm=50,
               size=MIB, options=("--message", "{size}"), metric="mib_s",
               clients=(LIMIT, *MESSAGE_STYLES, *MESSAGE_PEERS),
               shares={"undici": 0.1, "websockets": 0.1}, quick={"total": 250, "warm": 20})
    yield Case(name="w11-idle", title="10,000 WebSockets", path="/", server="wsecho", total=10_000, concurrency=10_000,
               options=("--message", "64", "--idle"), metric="idle_kib", most_rounds=2,
               clients=(LIMIT, "completion", "async"), quick={"most_rounds": 1})


def flooded_gets():
    """W12. The flood and the answers come from the same server, which serves others between two pieces of the flood."""
    for flood, (title, peers) in FLOODS.items():
        yield Case(name=f"w12-{flood}", title=title, server="flood", total=2_000, warm=20, metric="p50_us",
                   options=("--flood", flood) if flood != "none" else (), clients=("completion", "network", *peers),
                   shares={"go": 1}, seconds=60, quick={"total": 300, "warm": 10})


def default_gets():
    """W13. What a program pays for what it has not chosen: the answers say nothing to caches, and none is used again."""
    for flight, total in ((1, 20_000), (32, 80_000), (64, 80_000)):
        yield Case(name=f"w13-{flight}", title=f"{flight} in flight", total=total, warm=500, concurrency=flight,
                   clients=(LIMIT, "completion", "completion-uncached", "go"), quick={"total": total // 8})
    yield Case(name="w13-other", title="64 in flight, another URL each time", total=200_000, warm=500, concurrency=64,
               clients=(LIMIT, "other-uncached", "other"), quick={"total": 20_000})
    yield Case(name="w13-manager", title="64 in flight, managers", total=40_000, warm=500, concurrency=64,
               clients=(LIMIT, "manager-uncached", "manager"))
    yield Case(name="w13-six", title="64 in flight, six connections to the host", total=80_000, warm=500, concurrency=64,
               clients=(LIMIT, "completion", "six"), quick={"total": 10_000})


def bodies():
    """W14. A body as one value, which all but the limit keep until it is whole."""
    collected = (LIMIT, "completion", "async", *PEERS)
    for path, title, flight, total in (("4k", "4 KiB", 16, 60_000), ("64k", "64 KiB", 16, 20_000), ("1m", "1 MiB", 4, 2_000)):
        yield Case(name=f"w14-{path}", title=title, path=f"/{path}", concurrency=flight, total=total, warm=total // 50,
                   options=("--collect",), clients=collected, quick={"total": total // 8} if path == "64k" else None)
    yield Case(name="w14-gzip", title="64 KiB of JSON, gzip", path="/coded", concurrency=16, total=10_000, warm=200,
               options=("--collect", "--coded"), clients=collected)
    yield Case(name="w14-post", title="a POST of 1 KiB", path="/", server="sink", concurrency=16, total=60_000, warm=500,
               options=("--post", "1024"), clients=(LIMIT, "completion", *PEERS))
    yield Case(name="w14-file", title="4 KiB to a file, one in flight", path="/4k", total=10_000, warm=200,
               options=("--out", "{out}"), clients=(LIMIT, "completion", *PEERS))


def grown_gets():
    """W15. What a request costs whose session knows many hosts beside that of the request."""
    for count in (1, 100, 1_000, 10_000):
        yield Case(name=f"w15-{count}", title=f"64 in flight, {count:,} other host{'s'[:count > 1]}", total=40_000, warm=500,
                   concurrency=64, connections=count, options=("--known-count", str(count)), clients=KNOWN_HOSTS,
                   quick={"total": 8_000} if count == 10_000 else None)
    for count in (1, 100_000):
        responses = f"{count:,} response{'s'[:count > 1]}"
        yield Case(name=f"w15-stored-{count}", title=f"a first request, {responses} in the folder of its cache", total=50,
                   warm=2, options=("--known-count", str(count)), metric="p50_us", clients=("known-stored",))
        yield Case(name=f"w15-beside-{count}", title=f"one in flight, another session opens a cache of {responses}",
                   total=5_000, warm=100, options=("--known-count", str(count)), metric="p99_us", clients=("known-beside",))


def counted_requests():
    ours = STYLES[:-1]
    for tag, secure in (("plain", False), ("tls", True)):
        yield Case(name=f"counts-{tag}", title=f"{TAGS[tag]}, 64 in flight", total=2_000, warm=500, concurrency=64,
                   secure=secure, most_rounds=1, metric="instructions_req", clients=(LIMIT, *ours))


WORKLOADS = {workload.name: workload for workload in (
    Workload("w1", "small keep-alive GET, plaintext", (*small_gets("w1", False), *crowded_gets()), PER_REQUEST),
    Workload("w2", "small keep-alive GET, TLS 1.3", tuple(small_gets("w2", True)), PER_REQUEST),
    Workload("w3", "download of {size}", tuple(downloads()), PER_TRANSFER),
    Workload("w4", "a new connection for each request", tuple(connections()), PER_CONNECTION),
    Workload("w5", "upload of {size}", tuple(uploads()), PER_TRANSFER),
    Workload("w6", "idle connections", tuple(idle_connections()), PER_IDLE),
    Workload("w7", "cold start", tuple(cold_starts()), PER_START, "coldstart"),
    Workload("w8", "pipelined GETs", tuple(pipelines()), (Column("CPU µs", "cpu_us_req", 2), *LATENCY)),
    Workload("w9", "what pinning adds to a handshake", tuple(pinned_handshakes()), PER_CONNECTION),
    Workload("w10", "the same GET through each layer", tuple(layered_gets()), PER_REQUEST),
    Workload("w11", "WebSockets", tuple(messages()), PER_MESSAGE),
    Workload("w12", "a GET beside a connection that its server floods", tuple(flooded_gets()), BESIDE_FLOOD),
    Workload("w13", "what a program pays for what it has not chosen", tuple(default_gets()), PER_REQUEST),
    Workload("w14", "bodies as programs take them", tuple(bodies()), PER_REQUEST),
    Workload("w15", "a session that knows many other hosts", tuple(grown_gets()), PER_REQUEST),
    Workload("counts", "instructions and allocations, not timed", tuple(counted_requests()),
             (Column("allocations", "allocations_req", 1),), "counts"),
)}
CASES = {case.name: case for workload in WORKLOADS.values() for case in workload.cases}
QUICK = ("w1", "w2", "w3", "w4", "w10", "w11", "w12", "w13", "w14", "w15")


def chosen_cases(names, quick):
    cases = [case for name in names for case in WORKLOADS[name].cases]
    return [replace(case, **case.quick) for case in cases if case.quick] if quick else cases


def workload_of(case_name):
    return next(workload for workload in WORKLOADS.values() if any(case.name == case_name for case in workload.cases))
