"""Samples become medians, ratios and verdicts; and the file they are kept in."""
import json
import statistics
import time
from dataclasses import dataclass

from .bars import BARS
from .clients import CLIENTS, LIMITS, PEERS
from .machine import machine_facts, version_facts
from .workloads import CASES, METRICS, WORKLOADS, workload_of

FORMAT = 1
TOO_MUCH_FOREIGN = 0.12  # cores that others used during a measurement


def derived(row, case):
    """The row with the figures that follow from it."""
    row = dict(row)
    if "rss_kb" in row:
        row["rss_mib"] = row["rss_kb"] / 1024
    if case.metric == "cpu_us_message":
        row["cpu_us_message"] = row.get("cpu_us_req")
    if case.size:
        row["cpu_s_gb"] = row["cpu_us_req"] * 1e-6 / (case.size / 1e9)
        row["mb_s"] = case.size * row["n"] / row["wall_s"] / 1e6
        row["mib_s"] = row["mb_s"] * 1e6 / (1 << 20)
        if row.get("rss_start_kb"):
            row["growth_mib"] = max(0, row["rss_kb"] - row["rss_start_kb"]) / 1024
    for end in ("", "_2"):
        if row.get("rss_per_connection" + end) is not None:
            row["idle_kib" + end] = row["rss_per_connection" + end] / 1024
    return row


def median_row(rows):
    """Medians of the quiet rounds, or of all rounds when none was quiet."""
    quiet = [row for row in rows if row.get("foreign", 0) <= TOO_MUCH_FOREIGN]
    used = quiet or rows
    names = {name for row in used for name, value in row.items() if isinstance(value, (int, float)) and name != "round"}
    medians = {name: statistics.median([row[name] for row in used if name in row]) for name in names}
    return {**medians, "rounds": len(used), "quiet": bool(quiet)}


class Results:
    """The medians of one run. Figures of different runs never meet."""

    def __init__(self, document):
        self.document = document
        rows = {}
        for sample in document["samples"]:
            rows.setdefault((sample["case"], sample["client"]), []).append(sample)
        self.samples = rows
        self.medians = {key: median_row(found) for key, found in rows.items() if key[0] in CASES}

    def value(self, case, client, metric=None):
        return self.medians.get((case, client), {}).get(metric or CASES[case].metric)

    def clients(self, case):
        return [client for client in CASES[case].clients if self.value(case, client) is not None]

    def cases(self, workload):
        return [case for case in workload.cases if self.clients(case.name)]

    def workloads(self):
        return [workload for workload in WORKLOADS.values() if self.cases(workload)]

    def parts(self, workload):
        return [part for part in workload.parts if self.cases(part)]

    def title(self, workload):
        """As it was measured: --quick measures less."""
        case = workload.cases[0]
        size = self.document["sizes"].get(case.name, case.size)
        return workload.title.format(size=f"{size >> 30} GiB" if size >> 30 else f"{size >> 20} MiB")

    def ratio(self, case, client, others):
        """The client's figure as a multiple of that of the first of the others that was measured."""
        own = self.value(case, client)
        base = next((self.value(case, other) for other in others if self.value(case, other)), None)
        if own is None or base is None or round(base, METRICS[CASES[case].metric].decimals) == 0:
            return None
        return own / base

    def times_limit(self, case, client):
        return self.ratio(case, client, LIMITS)

    def times_peer(self, case, client, peer):
        return self.ratio(case, client, PEERS[peer])

    def verdicts(self):
        """In the order of the workloads."""
        order = list(WORKLOADS)
        bars = sorted(BARS, key=lambda bar: order.index(workload_of(bar.case).name))
        return [verdict for bar in bars if (verdict := judge(bar, self))]


# MARK: Bars

@dataclass(frozen=True)
class Verdict:
    bar: object
    value: float
    word: str  # stretch, within or OVER
    noisy: bool = False  # no round was quiet

    @property
    def share(self):
        """How much of what is allowed was used: more than 1 is over the bar."""
        return self.bar.must / self.value if self.bar.at_least else self.value / self.bar.must

    @property
    def stretch_share(self):
        if self.bar.stretch is None:
            return None
        return self.bar.must / self.bar.stretch if self.bar.at_least else self.bar.stretch / self.bar.must

    @property
    def words(self):
        return self.judgement + (" (noisy)" if self.noisy else "")

    @property
    def judgement(self):
        if self.word != "OVER":
            return self.word
        if self.bar.at_least:
            return f"MISSED by {100 * (1 - self.value / self.bar.must):.0f} %"
        return f"OVER by {100 * (self.share - 1):.0f} %"


def judge(bar, results):
    """The verdict, or None when what it needs was not measured."""
    value = results.value(bar.case, bar.client, bar.metric)
    if bar.against and value is not None:
        base = results.value(*bar.against, bar.metric)
        value = value / base if base else None
    if value is None:
        return None
    places = [(bar.case, bar.client), *([bar.against] if bar.against else [])]
    noisy = any(not results.medians[place]["quiet"] for place in places)
    return Verdict(bar, max(value, 1e-9), word_for(value, bar), noisy)


def word_for(value, bar):
    def reaches(line):
        return line is not None and (value >= line if bar.at_least else value <= line)
    return "stretch" if reaches(bar.stretch) else "within" if reaches(bar.must) else "OVER"


def subject(bar):
    """What a bar is about."""
    workload = workload_of(bar.case)
    metric = "" if bar.metric == CASES[bar.case].metric else f", {METRICS[bar.metric].title}"
    return f"{workload.name.upper()} {CASES[bar.case].title}, {CLIENTS[bar.client].title}{metric}"


def amount(bar, value):
    """A value of this bar, in its own unit."""
    if not bar.against:
        return f"{value:.1f} {METRICS[bar.metric].unit}"
    return f"{value:.2f} ×"


def comparison(bar):
    """What the value is a multiple of."""
    if not bar.against:
        return ""
    case, client = bar.against
    if client in LIMITS:
        return " the limit"
    return f" that of {CASES[case].title if client == bar.client else CLIENTS[client].title}"


# MARK: The file

def document_of(samples, measured, *, quick, rounds, cases, failures, skipped):
    return {
        "format": FORMAT,
        "when": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "revision": measured,
        "quick": quick,
        "rounds": rounds,
        "machine": machine_facts(),
        "versions": version_facts(),
        "sizes": {case.name: case.size for case in cases if case.size},
        "failures": failures,
        "skipped": skipped,
        "samples": samples,
    }


def save(document, path):
    """One sample per line, so that a difference between two files can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps({**document, "samples": []}, indent=1, ensure_ascii=False)
    lines = ",\n".join("  " + json.dumps(sample) for sample in document["samples"])
    path.write_text(head.replace('"samples": []', f'"samples": [\n{lines}\n ]') + "\n")


def load(path):
    """Raises ValueError with the reason."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path} is no result of this version of ./dev bench: measure again")
    return document
