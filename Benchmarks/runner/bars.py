"""The bars that our client is held to."""
from dataclasses import dataclass

from .clients import LIMIT
from .workloads import FLOODS, KNOWN_HOSTS, WORKLOADS


@dataclass(frozen=True)
class Bar:
    """How good a client must be in a case.

    Without `against` the figure itself is held to the bar, otherwise its ratio to the figure of that
    (case, client). Less is better, unless `at_least`.
    """
    case: str
    client: str
    must: float
    stretch: float = None
    metric: str = "cpu_us_req"
    against: tuple = None
    at_least: bool = False


def times_limit(cases, client, must, stretch, metric="cpu_us_req"):
    return [Bar(case, client, must, stretch, metric, (case, LIMIT)) for case in cases]


STORED = ("w3-plain-file", "w3-tls-file")
TRANSFERS = [("w3-plain", "delegate"), ("w3-tls", "delegate"), *((case, "completion") for case in STORED),
             *((case.name, "completion") for case in WORKLOADS["w5"].cases)]

BARS = (
    *times_limit(["w1-64"], "completion", 2.0, 1.7),
    *times_limit(["w1-16"], "completion-uncached", 1.45, 1.25),
    *times_limit(["w1-64"], "completion-uncached", 1.35, 1.25),
    *times_limit(["w1-256"], "completion-uncached", 1.3, 1.25),
    *times_limit(["w1-16"], "delegate-uncached", 1.5, 1.3),
    *times_limit(["w1-64"], "delegate-uncached", 1.45, 1.3),
    *times_limit(["w1-256"], "delegate-uncached", 1.4, 1.3),
    *times_limit(["w1-16"], "async-uncached", 1.8, 1.5),
    *times_limit(["w1-64"], "async-uncached", 1.75, 1.5),
    *times_limit(["w1-256"], "async-uncached", 1.7, 1.5),
    Bar("w1-10000", "completion", 1.35, 1.2, against=("w1-64", "completion")),
    *times_limit(["w2-64"], "completion-uncached", 1.35, 1.25),
    *times_limit(["w3-plain"], "delegate", 1.3, 1.1, "cpu_s_gb"),
    *times_limit(["w3-tls"], "delegate", 1.1, 1.05, "cpu_s_gb"),
    *times_limit(["w3-plain-file"], "completion", 1.2, 1.05, "cpu_s_gb"),
    *times_limit(["w3-tls-file"], "completion", 1.1, 1.05, "cpu_s_gb"),
    *times_limit(["w4-plain"], "completion", 1.2, 1.1),
    *times_limit(["w4-full"], "completion", 1.06, 1.02),
    *times_limit(["w4-resumed"], "completion", 1.15, 1.05),
    Bar("w4-full-roots", "completion", 1.02, 1.0, against=("w4-full", "completion")),
    *times_limit(["w5-plain-file", "w5-plain-stream", "w5-tls-stream"], "completion", 1.1, 1.0, "cpu_s_gb"),
    *times_limit(["w5-tls-file"], "completion", 1.05, 1.0, "cpu_s_gb"),
    *(Bar(case, client, 32, metric="growth_mib") for case, client in TRANSFERS),
    *(Bar(f"w6-plain-{count}", "completion", 4, 2, "idle_kib") for count in (1_000, 10_000)),
    *(Bar(f"w6-tls-{count}", "completion", 30, 25, metric) for count in (1_000, 10_000)
      for metric in ("idle_kib", "idle_kib_2")),
    Bar("w7-http", "hello-swift-static", 0.8, 0.6, "first_ms", ("w7-http", "hello-curl")),
    Bar("w7-https", "hello-swift-static", 0.25, metric="first_ms", against=("w7-https", "hello-curl")),
    Bar("w7-http", "hello-swift-static", 14, 11, "rss_mib"),
    Bar("w7-https", "hello-swift-static", 14, 11, "rss_mib"),
    Bar("w8-pipelined", "completion", 3, 5, "rps", ("w8-one", "completion"), at_least=True),
    *times_limit(["w10-plain"], "manager", 2.4, 2.0),
    *times_limit(["w10-plain"], "manager-async", 2.8, 2.4),
    *times_limit(["w10-plain"], "operation", 3.5, 2.9),
    *times_limit(["w10-plain"], "connection", 1.8, 1.6),
    Bar("w10-one", "blocking", 1.0, against=("w10-one", "libcurl")),
    *times_limit(["w10-one"], "completion", 1.4, 1.1),
    *times_limit(["w10-one"], "manager", 2.0, 1.1),
    *times_limit(["w11-64"], "completion", 1.4, 1.25, "cpu_us_message"),
    *times_limit(["w11-64"], "async", 1.9, 1.25, "cpu_us_message"),
    Bar("w11-large", "completion", 0.8, 0.9, "mib_s", ("w11-large", LIMIT), at_least=True),
    Bar("w11-idle", "completion", 4, metric="idle_kib"),
    *(Bar(f"w12-{flood}", "completion", 2_000, metric="p50_us") for flood in FLOODS),
    *(Bar(f"w12-{flood}", "completion", 10_000, metric="p99_us") for flood in FLOODS),
    Bar("w13-1", "completion", 1.15, against=("w13-1", "completion-uncached")),
    *(Bar(f"w13-{flight}", "completion", 1.2, against=(f"w13-{flight}", "completion-uncached")) for flight in (32, 64)),
    Bar("w13-other", "other", 1.25, against=("w13-other", "other-uncached")),
    *times_limit(["w13-other"], "other", 2.4, 2.1),
    *times_limit(["w13-manager"], "manager-uncached", 1.85, 1.7),
    *times_limit(["w14-64k"], "completion", 1.15, 1.1),
    *times_limit(["w14-1m"], "completion", 1.6, 1.3),
    *times_limit(["w14-file"], "completion", 3.5, 2.5),
    *(Bar("w15-10000", client, 1.25, against=("w15-10000", "known-nothing")) for client in KNOWN_HOSTS[1:]),
    Bar("w15-stored-100000", "known-stored", 50_000, metric="p50_us"),
    Bar("w15-beside-100000", "known-beside", 10_000, metric="p99_us"),
    Bar("w9-spki", "completion", 1.01, against=("w9-none", "completion")),
)
