"""The plots of a result: one SVG file for each workload, and one of all bars."""
import math

from .clients import CLIENTS, LIMITS
from .drawing import CHARACTER, Drawing, log_ticks, spread, ticks
from .results import amount, subject
from .tables import allowed, number
from .workloads import CASES, METRICS, WORKLOADS

WIDTH = 820
LINES = ("w1", "w2")
CUT_BEYOND, CUT_AT = 6, 3  # times the longest bar of ours
COLOUR = {
    "ceil": "grey", "ceil-uring": "ink",
    "completion": "blue", "delegate": "teal", "async": "purple", "executor": "pink",
    "network": "green", "network-delegate": "green", "discard": "pink",
    "url": "purple", "other": "blue", "cache": "teal", "cache-other": "teal", "manager": "teal", "manager-queue": "green", "manager-async": "pink", "operation": "purple",
    "connection": "green", "afnet": "blue", "curl": "orange",
    "libcurl-new": "brown", "go": "cyan", "undici": "olive", "hyper": "indigo", "websockets": "brown", "aiohttp": "olive",
    "libcurl": "orange", "foundation": "red",
    "hello-c": "grey", "hello-swift-static": "blue", "hello-swift": "teal", "hello-curl": "orange", "hello-fn": "red",
}
DASHES = {"limit": "2 4", "peer": "8 4", "ours": None}
WORD_COLOUR = {"stretch": "green", "within": "blue", "OVER": "red"}


def better(metric):
    return "more is better" if metric.higher_is_better else "less is better"


def decides(metric):
    return f"{metric.title} ({better(metric)})"


def plain_number(value):
    return f"{value:,.10g}"


# MARK: Lines: W1 and W2

def in_flight(results, workload):
    return [case for case in results.cases(workload) if case.concurrency <= 256]


def lines_plot(results, workload):
    """CPU per request by the number in flight, on a logarithmic axis."""
    cases, metric = in_flight(results, workload), workload.metric
    if len(cases) < 2:
        return panels_plot(results, workload)
    drawing = Drawing(WIDTH, f"{workload.name.upper()} {results.title(workload)}: {decides(metric)}",
                      "CPU time of the client process, user and system, logarithmic; server on another core")
    left, right, top, bottom = 64, WIDTH - 226, 84, 484
    series = series_of(results, cases)
    values = [value for points in series.values() for _, value in points]
    low, high = min(values) / 1.15, max(values) * 1.15
    across = {case.name: left + 30 + (right - left - 60) * index / (len(cases) - 1) for index, case in enumerate(cases)}

    def down(value):
        return bottom - (bottom - top) * math.log(value / low) / math.log(high / low)
    draw_axes(drawing, cases, across, down, (left, right, top, bottom), (low, high))
    for client, points in series.items():
        colour = COLOUR[client]
        places = [(across[name], down(value)) for name, value in points]
        drawing.path(places, colour, DASHES[CLIENTS[client].kind])
        for (x, y), (name, value) in zip(places, points):
            drawing.dot(x, y, colour, f"{CLIENTS[client].title}, {CASES[name].title}: {value:.2f} {metric.unit}")
    label_ends(drawing, series, across, down, right + 4)
    return drawing.render(bottom + 50)


def series_of(results, cases):
    series = {}
    for case in cases:
        for client in results.clients(case.name):
            series.setdefault(client, []).append((case.name, results.value(case.name, client)))
    return series


def draw_axes(drawing, cases, across, down, frame, span):
    left, right, top, bottom = frame
    for value in log_ticks(*span):
        drawing.line(left, down(value), right, down(value))
        drawing.text(left - 8, down(value) + 4, plain_number(value), "end", colour="faint")
    for case in cases:
        drawing.text(across[case.name], bottom + 20, str(case.concurrency), "middle", colour="faint")
    drawing.text((left + right) / 2, bottom + 40, "requests in flight", "middle", colour="faint")
    drawing.text(16, top - 10, "µs of CPU per request", "start", colour="faint")


def label_ends(drawing, series, across, down, x):
    """Each line is named where it ends."""
    ends = {client: (across[points[-1][0]], down(points[-1][1]), points[-1][1]) for client, points in series.items()}
    heights = spread([y for _, y, _ in ends.values()], 16)
    for (client, (end_x, y, value)), height in zip(ends.items(), heights):
        drawing.line(end_x + 6, y, x, height, COLOUR[client])
        drawing.text(x + 4, height + 4, f"{CLIENTS[client].title} {value:.1f}", weight="strong", colour=COLOUR[client])


# MARK: Panels: everything else

def panels_plot(results, workload):
    """A panel of bars for each case."""
    title, several = f"{workload.name.upper()} {results.title(workload)}", len(workload.parts) > 1
    drawing = Drawing(WIDTH, title if several else f"{title}: {decides(workload.metric)}",
                      "each panel has a scale of its own; a cut bar goes on beyond it; × is the multiple of the limit")
    y = 66
    for case in results.cases(workload):
        heading = f"{case.title}: {decides(METRICS[case.metric])}" if several else case.title
        y = draw_panel(drawing, results, case, heading, y)
    return drawing.render(y)


def draw_panel(drawing, results, case, heading, y):
    clients, metric = results.clients(case.name), METRICS[case.metric]
    values = {client: results.value(case.name, client) for client in clients}
    left, right = 190, WIDTH - 180
    top = axis_end(values)
    drawing.text(16, y + 14, heading, weight="strong")
    y += 24
    bottom = y + 24 * len(clients)
    for value in ticks(top):
        x = left + (right - left) * value / top
        drawing.line(x, y, x, bottom)
        drawing.text(x, bottom + 14, plain_number(round(value, 6)), "middle", colour="faint")
    drawing.text(right + 18, bottom + 14, metric.axis, "start", colour="faint")
    for client, value in values.items():
        draw_bar(drawing, results, case, client, value, (left, right, top), y)
        y += 24
    return bottom + 34


def axis_end(values):
    """So that a slow peer does not press the others flat."""
    longest = max(values.values()) or 1
    ours = max((value for client, value in values.items() if CLIENTS[client].kind == "ours"), default=longest)
    return 1.02 * (CUT_AT * ours if longest > CUT_BEYOND * ours > 0 else longest)


def draw_bar(drawing, results, case, client, value, axis, y):
    left, right, top = axis
    name, metric = CLIENTS[client].title, METRICS[case.metric]
    label = f"{number(value, metric.decimals)} {metric.unit}".strip()
    times = results.times_limit(case.name, client)
    if times is not None and client not in LIMITS:
        label += f" · {times:.2f} ×"
    drawing.text(left - 8, y + 16, name, "end", "strong" if CLIENTS[client].kind == "ours" else "")
    length = (right - left) * min(value / top, 1)
    drawing.bar(left, y + 3, length, 18, COLOUR[client], f"{name}: {label}")
    if value > top:
        drawing.break_mark(right - 24, y + 3, 18)
    drawing.text(left + length + 6, y + 16, label)


# MARK: All bars

def bars_plot(results):
    """How much of what is allowed was used."""
    verdicts = results.verdicts()
    drawing = Drawing(WIDTH, "All bars: the share of the allowed cost that is used (left of the line is better)",
                      "the line is the bar, a tick the stretch goal; hollow red is over it, at the right edge far over")
    left = 24 + CHARACTER * max(len(subject(verdict.bar)) for verdict in verdicts)
    right, top, most = WIDTH - 176, 84, min(2.0, max(1.2, *(verdict.share for verdict in verdicts)) * 1.02)
    bottom = top + 20 * len(verdicts)

    def across(share):
        return left + (right - left) * min(share / most, 1)
    for value in ticks(most, 8):
        drawing.line(across(value), top - 8, across(value), bottom)
        drawing.text(across(value), bottom + 16, f"{100 * value:.0f} %", "middle", colour="faint")
    drawing.line(across(1), top - 14, across(1), bottom, "ink", 2)
    drawing.text(across(1), top - 18, "bar", "middle", "strong")
    drawing.text((left + right) / 2, bottom + 34, "measured cost as a share of the bar", "middle", colour="faint")
    for index, verdict in enumerate(verdicts):
        draw_verdict(drawing, verdict, across, top + 20 * index, right)
    return drawing.render(bottom + 48)


def draw_verdict(drawing, verdict, across, y, right):
    bar, colour = verdict.bar, WORD_COLOUR[verdict.word]
    drawing.text(16, y + 10, subject(bar))
    drawing.line(across(0), y + 6, across(verdict.share), y + 6, colour, 2)
    if verdict.stretch_share is not None:
        drawing.line(across(verdict.stretch_share), y - 2, across(verdict.stretch_share), y + 14, "faint", 2)
    value = amount(bar, verdict.value)
    tip = f"{value}, bar {'≥' if bar.at_least else '≤'} {allowed(bar)}: {verdict.words}"
    drawing.dot(across(verdict.share), y + 6, colour, tip, hollow=verdict.word == "OVER")
    drawing.text(right + 12, y + 10, f"{value} {verdict.judgement}", colour=colour)


# MARK: Files

def all_plots(results):
    """{file name: SVG}"""
    drawn = {f"{workload.name}.svg": (lines_plot if workload.name in LINES else panels_plot)(results, workload)
             for workload in results.workloads()}
    if results.verdicts():
        drawn["bars.svg"] = bars_plot(results)
    return drawn


def draw_all(results, folder):
    """Writes the plots, removes those of earlier results that have no successor."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = all_plots(results)
    for name in [*(f"{workload}.svg" for workload in WORKLOADS), "bars.svg"]:
        if name not in drawn:
            (folder / name).unlink(missing_ok=True)
    for name, text in drawn.items():
        (folder / name).write_text(text)
    return [folder / name for name in drawn]
