"""The plots of a result, drawn by matplotlib (./dev setup --bench): ours beside each peer, one for each workload, and one of
all bars.

Sorted, the best first. Ours has one colour. All others are grey, but red where they are ahead of all of ours.
"""
import io
import re

from .clients import CLIENTS, LIMITS
from .machine import fail
from .results import amount, subject
from .tables import number
from .workloads import METRICS, WORKLOADS, workload_of

OURS, OTHERS, LIMIT, AHEAD = "#0b62c4", "#b3bac2", "#7a828b", "#c0252f"
WIDTH, ROW = 9, 0.24  # inches
CUT_BEYOND, CUT_AT = 6, 3  # times the longest bar of ours


def better(metric):
    return "more is better" if metric.higher_is_better else "less is better"


def file_names(results):
    return [*(["peers.svg"] if beside_peers(results) else []),
            *(f"{workload.name}.svg" for workload in results.workloads()), *(["bars.svg"] if results.verdicts() else [])]


def beside_peers(results):
    """(case, {peer: how many times what ours takes}), for each case that has both."""
    rows = []
    for workload in results.workloads():
        for case in results.cases(workload):
            metric, ours = METRICS[case.metric], results.value(case.name, case.beside_peers)
            peers = {name: results.value(case.name, name) for name in results.clients(case.name)
                     if CLIENTS[name].kind == "peer"}
            if ours and peers:
                rows.append((case, {name: ours / value if metric.higher_is_better else value / ours
                                    for name, value in peers.items() if value}))
    return rows


def axis_end(values):
    """So that a slow peer does not press the others flat."""
    longest = max(values.values()) or 1
    ours = max((value for client, value in values.items() if CLIENTS[client].kind == "ours"), default=longest)
    return 1.02 * (CUT_AT * ours if longest > CUT_BEYOND * ours > 0 else longest)


def in_order(values, metric):
    return sorted(values, key=values.get, reverse=metric.higher_is_better)


def colour(client, values, metric):
    kind = CLIENTS[client].kind
    if kind != "peer":
        return OURS if kind == "ours" else LIMIT
    best = next((one for one in in_order(values, metric) if CLIENTS[one].kind == "ours"), client)
    is_ahead = values[client] > values[best] if metric.higher_is_better else values[client] < values[best]
    return AHEAD if is_ahead else OTHERS


def label(results, case, client, value):
    metric, times = METRICS[case.metric], results.times_limit(case.name, client)
    multiple = f" · {times:.2f} ×" if times is not None and client not in LIMITS else ""
    return f"{number(value, metric.decimals)} {metric.unit}".strip() + multiple


# MARK: Drawing

def figure(title, words, rows):
    """A figure with a panel of so many rows for each of the numbers."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        fail("matplotlib is missing: ./dev setup --bench")
    # The same file for the same data. Letters are outlines, so that no label is longer than it was when it was placed.
    matplotlib.rcParams.update({"svg.hashsalt": "afnet", "font.size": 9, "axes.titlesize": 9, "axes.spines.top": False,
                                "axes.spines.right": False, "axes.spines.left": False, "axes.axisbelow": True})
    drawn = Figure(figsize=(WIDTH, 1 + sum(ROW * count + 0.62 for count in rows)), layout="constrained")
    drawn.suptitle(f"{title}\n{words}", x=0.01, ha="left", fontsize=10)
    return drawn, drawn.subplots(len(rows), squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]


def draw_rows(axes, names, lengths, colours, labels, end, aligned=False):
    axes.barh(range(len(names)), [min(length, end) for length in lengths], color=colours, height=0.72)
    axes.set(xlim=(0, end), ylim=(len(names) - 0.4, -0.6), yticks=range(len(names)), yticklabels=names)
    axes.tick_params(left=False)
    axes.grid(axis="x", color="#d8dee4")
    for row, (length, text) in enumerate(zip(lengths, labels)):
        # A bar that is cut says so.
        axes.annotate(("» " if length > end else "") + text, (end if aligned else min(length, end), row), (4, 0), va="center",
                      textcoords="offset points")


def workload_plot(results, workload):
    """A panel for each case; each has a scale of its own."""
    cases = results.cases(workload)
    drawn, panels = figure(f"{workload.name.upper()}  {results.title(workload)}",
                           "blue: ours; dark: the limit; red: ahead of all of ours; ×: multiple of the limit; »: goes on",
                           [len(results.clients(case.name)) for case in cases])
    for case, axes in zip(cases, panels):
        metric = METRICS[case.metric]
        values = {client: results.value(case.name, client) for client in results.clients(case.name)}
        order = in_order(values, metric)
        colours = [colour(client, values, metric) for client in order]
        draw_rows(axes, [CLIENTS[client].title for client in order], [values[client] for client in order], colours,
                  [label(results, case, client, values[client]) for client in order], axis_end(values))
        axes.set_title(f"{case.title}: {metric.title}, {better(metric)}", loc="left")
        for name, text in zip(order, axes.get_yticklabels()):
            text.set_fontweight("bold" if CLIENTS[name].kind == "ours" else "normal")
    return drawn


def peers_plot(results):
    """A cell for each case and peer. Those that are another program of the same peer stand in its column."""
    rows = [(case, {CLIENTS[name].title: times for name, times in peers.items()}) for case, peers in beside_peers(results)]
    columns = [name for name in dict.fromkeys(client.title for client in CLIENTS.values() if client.kind == "peer")
               if any(name in peers for _, peers in rows)]
    drawn, (axes,) = figure("What others take for the same, as a multiple of what ours takes",
                            "ours with the configuration that a program gets; red: takes less than ours", [len(rows)])
    for line, (case, peers) in enumerate(rows):
        for place, name in enumerate(columns):
            if name not in peers:
                continue
            ahead = round(peers[name], 2) < 1
            axes.barh(line, 0.94, 0.86, place - 0.47, color=AHEAD if ahead else "#e6eef8")
            axes.text(place, line, number(peers[name], 2 if peers[name] < 10 else 0), ha="center", va="center",
                      color="white" if ahead else "black")
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), xticks=range(len(columns)),
             yticks=range(len(rows)), yticklabels=[f"{workload_of(case.name).name.upper()} {case.title}, "
                                                   f"{CLIENTS[case.beside_peers].title}" for case, _ in rows])
    axes.set_xticklabels([re.sub(r",? |(?<=Foundation)", "\n", name) for name in columns], fontsize=7)
    axes.tick_params(left=False, bottom=False, labelbottom=False, labeltop=True)
    axes.spines["bottom"].set_visible(False)
    return drawn


def bars_plot(results):
    """How much of what is allowed was used."""
    verdicts = sorted(results.verdicts(), key=lambda verdict: verdict.share)
    drawn, (axes,) = figure("All bars: the share of the allowed cost that is used", "red: over the bar", [len(verdicts)])
    draw_rows(axes, [subject(verdict.bar) for verdict in verdicts], [verdict.share for verdict in verdicts],
              [AHEAD if verdict.word == "OVER" else OURS for verdict in verdicts],
              [f"{amount(verdict.bar, verdict.value)} {verdict.judgement}" for verdict in verdicts], 2, aligned=True)
    axes.axvline(1, color="black")
    axes.set(xticks=[0, 1], xticklabels=["0", "the bar"])
    return drawn


OTHER_PLOTS = {"peers.svg": peers_plot, "bars.svg": bars_plot}


# MARK: Files

def draw_all(results, folder):
    """Writes the plots, removes those of earlier results that have no successor."""
    folder.mkdir(parents=True, exist_ok=True)
    names = file_names(results)
    for name in ["peers.svg", *(f"{workload}.svg" for workload in WORKLOADS), "bars.svg"]:
        if name not in names:
            (folder / name).unlink(missing_ok=True)
    for name in names:
        workload = WORKLOADS.get(name.removesuffix(".svg"))
        drawn = workload_plot(results, workload) if workload else OTHER_PLOTS[name](results)
        text = io.StringIO()
        drawn.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        # An outline has a line for each of its points.
        (folder / name).write_text(re.sub(r"\s*\n\s*(?!<)", " ", text.getvalue()).strip() + "\n")
    return [folder / name for name in names]
