"""Who is measured: one row per client and style."""
from dataclasses import dataclass

LIMIT = "ceil"
LIBURING_HINT = "needs liburing's headers: ./dev setup --bench"
LIBCURL_HINT = "needs libcurl's headers: ./dev setup --bench"
NEWER_HINT = "needs Debian 12 and its backports: ./dev setup --bench"
GO_HINT = "needs Go: ./dev setup --bench"
NODE_HINT = "needs Node and undici: ./dev setup --bench"
WEBSOCKETS_HINT = "needs websockets of PyPI: ./dev setup --bench"
AIOHTTP_HINT = "needs aiohttp of PyPI: ./dev setup --bench"
HYPER_HINT = "needs Debian 12's cargo and crates of hyper: ./dev setup --bench"
FOUNDATION_HINT = "is built from Benchmarks/Sources: see the messages of the build above"


KNOWN = {  # what a session knows of hosts that it does not load from
    "nothing": "nothing of them",
    "hsts": "they ask for TLS (HSTS)",
    "credentials": "a password for each",
    "cookies": "a cookie of each",
    "overrides": "each is reached elsewhere",
    "pins": "a rule with pins for each",
    "idle": "an idle connection to each",
    "stored": "a response of each in the folder of its cache",
    "beside": "requests of another session meanwhile",
}


@dataclass(frozen=True)
class Client:
    name: str
    program: str
    title: str
    kind: str  # limit, ours or peer
    options: tuple = ()
    share: float = 1  # of the small requests of a case: slow clients get fewer
    warms: int = 1  # times the warm-up: what is compiled while it runs needs more of it
    hint: str = "is missing: see the messages of the build above"
    system_trust_only: bool = False  # cannot be given authorities, so it gets a system of its own


def ours(name, title, style=None):
    return Client(name, "afbench", title, "ours", ("--style", style or name))


def starts(name, title, kind, **more):
    """A program that makes one request and ends."""
    return Client(name, name, title, kind, **more)


CLIENTS = {client.name: client for client in (
    Client(LIMIT, "ceil", "limit (C)", "limit"),
    Client("ceil-uring", "ceil-uring", "limit (C, io_uring)", "limit", hint=LIBURING_HINT),
    ours("completion", "completion handler"),
    ours("delegate", "delegate"),
    ours("async", "async"),
    ours("executor", "async, our executor"),
    ours("network", "handler, network thread"),
    ours("network-delegate", "delegate, network thread"),
    ours("discard", "delegate without bodies"),
    ours("url", "handler, new URL and request"),
    ours("other", "handler, another URL each time"),
    ours("six", "handler, six connections"),
    ours("completion-uncached", "handler, no cache"),
    ours("other-uncached", "the same, no cache"),
    ours("delegate-uncached", "delegate, no cache"),
    ours("async-uncached", "async, no cache"),
    ours("manager", "HTTPSessionManager"),
    ours("manager-queue", "HTTPSessionManager, own queue"),
    ours("manager-async", "HTTPSessionManager, async, JSON"),
    ours("manager-blocked", "HTTPSessionManager, own queue, main thread waits"),
    ours("manager-uncached", "HTTPSessionManager, no cache"),
    ours("operation", "HTTPRequestOperationManager"),
    *(Client(f"known-{kind}", "afbench", title, "ours", ("--known", kind)) for kind, title in KNOWN.items()),
    ours("connection", "URLConnection, network thread"),
    ours("blocking", "URLConnection, caller waits"),
    Client("afnet", "afnetbench", "afnet, a command", "ours", warms=0),
    Client("libcurl", "curlmulti", "libcurl", "peer", hint=LIBCURL_HINT),
    Client("libcurl-new", "curlmulti-new", "libcurl 8.14", "peer", hint=NEWER_HINT),
    Client("go", "gobench", "Go net/http", "peer", share=1 / 2, hint=GO_HINT),
    Client("undici", "undicibench", "Node undici", "peer", share=1 / 4, warms=10, hint=NODE_HINT),
    Client("websockets", "websocketsbench", "Python websockets", "peer", share=1 / 8, hint=WEBSOCKETS_HINT),
    Client("aiohttp", "aiohttpbench", "Python aiohttp", "peer", share=1 / 8, hint=AIOHTTP_HINT),
    Client("hyper", "hyperbench", "hyper (Rust)", "peer", hint=HYPER_HINT),
    Client("curl", "curlbench", "curl, a command", "peer", warms=0, hint="needs curl"),
    Client("foundation", "fnbench", "FoundationNetworking", "peer", share=1 / 16, hint=FOUNDATION_HINT,
           system_trust_only=True),
    starts("hello-c", "C sockets, OpenSSL", "limit"),
    starts("hello-swift-static", "ours, static", "ours"),
    starts("hello-swift", "ours, dynamic", "ours"),
    starts("hello-curl", "libcurl", "peer", hint=LIBCURL_HINT),
    starts("hello-fn", "FoundationNetworking", "peer", hint=FOUNDATION_HINT),
)}

PEERS = {"libcurl": ("libcurl", "hello-curl"), "foundation": ("foundation", "hello-fn")}
LIMITS = (LIMIT, "hello-c")

# What --clients understands beside the names above.
GROUPS = {
    "limit": [LIMIT, "hello-c"],
    "ours": [client.name for client in CLIENTS.values() if client.kind == "ours"],
    "peers": [client.name for client in CLIENTS.values() if client.kind == "peer"],
}


def named(words):
    """The clients that the words of --clients stand for, or the first word nobody knows."""
    chosen = []
    for word in words:
        if word not in CLIENTS and word not in GROUPS:
            return None, word
        chosen += GROUPS.get(word, [word])
    return chosen, None
