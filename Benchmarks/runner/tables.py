"""Tables for people: on a terminal, and in Markdown."""
from .clients import CLIENTS
from .results import amount, comparison, subject
from .workloads import CASES


def number(value, decimals):
    if value is None:
        return "-"
    return f"{value:,.{decimals}f}"


def heading_cells(workload):
    metric = workload.metric
    figure = f"{metric.unit}" if metric.unit else "count"
    columns = [column.title for column in workload.columns]
    return ["client", figure, "÷ limit", "÷ libcurl", "÷ FoundationN.", *columns, "rounds"]


def cells(results, workload, case, client):
    row = results.medians[case, client]
    ratios = [results.times_limit(case, client), *(results.times_peer(case, client, peer)
                                                   for peer in ("libcurl", "foundation"))]
    columns = [number(row.get(column.key), column.decimals) for column in workload.columns]
    rounds = f"{row['rounds']}{'' if row['quiet'] else ' noisy'}"
    figure = number(row.get(CASES[case].metric), workload.metric.decimals)
    return [CLIENTS[client].title, figure, *(number(ratio, 2) for ratio in ratios), *columns, rounds]


def filled(rows):
    """The rows without columns that say nothing."""
    keep = [index for index in range(len(rows[0])) if index == 0 or any(row[index] != "-" for row in rows[1:])]
    return [[row[index] for index in keep] for row in rows]


def rows_of(results, workload):
    """Headings, then (title of the case, its rows)."""
    names = [(case.name, client) for case in results.cases(workload) for client in results.clients(case.name)]
    lines = filled([heading_cells(workload), *(cells(results, workload, *name) for name in names)])
    groups = {}
    for (case, _), line in zip(names, lines[1:]):
        groups.setdefault(CASES[case].title, []).append(line)
    return lines[0], groups


def headline(results, workload):
    metric = workload.metric
    better = "more is better" if metric.higher_is_better else "less is better"
    unit = f", {metric.unit}" if metric.unit else ""
    return f"{workload.name.upper()} {results.title(workload)}: {metric.title}{unit}; {better}"


# MARK: Terminal

def plain_table(head, groups):
    lines = [head, *(line for group in groups.values() for line in group)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]

    def aligned(line):
        first, *rest = (cell.ljust(width) if index == 0 else cell.rjust(width)
                        for index, (cell, width) in enumerate(zip(line, widths)))
        return "  ".join(["    " + first, *rest]).rstrip()
    yield aligned(head)
    for title, group in groups.items():
        yield f"  {title}"
        yield from map(aligned, group)


def plain_verdicts(results):
    verdicts = results.verdicts()
    if not verdicts:
        return
    yield "Bars"
    width = max(len(subject(verdict.bar)) for verdict in verdicts)
    for verdict in verdicts:
        bar = verdict.bar
        sign = "≥" if bar.at_least else "≤"
        value = amount(bar, verdict.value) + comparison(bar)
        yield f"    {subject(bar):{width}}  {value}, bar {sign} {allowed(bar)}: {verdict.words}"


def allowed(bar):
    return f"{bar.must:g}" + (f" (stretch {bar.stretch:g})" if bar.stretch is not None else "")


def plain_text(results):
    lines = []
    for workload in results.workloads():
        for part in results.parts(workload):
            lines += [headline(results, part), *plain_table(*rows_of(results, part)), ""]
    lines += plain_verdicts(results)
    if any(not row["quiet"] for row in results.medians.values()):
        lines += ["", "noisy: others used more than 0.12 core in every round; measure again on a quiet machine"]
    return "\n".join(lines)


# MARK: Markdown

def markdown_line(line):
    return "| " + " | ".join(line) + " |"


def markdown_table(head, groups):
    yield markdown_line(head)
    yield "|---|" + "--:|" * (len(head) - 1)
    for title, group in groups.items():
        yield markdown_line([f"**{title}**", *[""] * (len(head) - 1)])
        yield from map(markdown_line, group)


def markdown_verdicts(results):
    yield markdown_line(["bar", "measured", "must", "stretch", "verdict"])
    yield "|---|--:|--:|--:|---|"
    for verdict in results.verdicts():
        bar = verdict.bar
        sign = "≥" if bar.at_least else "≤"
        value = amount(bar, verdict.value) + comparison(bar)
        stretch = f"{sign} {bar.stretch:g}" if bar.stretch is not None else ""
        word = f"**{verdict.words}**" if verdict.word == "OVER" else verdict.words
        yield markdown_line([subject(bar), value, f"{sign} {bar.must:g}", stretch, word])


def markdown_facts(results):
    document = results.document
    machine, versions = document["machine"], document["versions"]
    guest = ", a virtual machine" if machine["virtual"] else ""
    count = document["rounds"]
    rounds = "a quick run, good for a first look only" if document["quick"] else f"{count} round{'s' * (count > 1)}"
    shared = "; client and server ran on two threads of one core" if machine["share_a_core"] else ""
    yield f"- {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB{guest}{shared}"
    yield f"- {machine['system']}, Linux {machine['kernel']}, congestion control {machine['congestion_control']}"
    yield "- " + ", ".join(f"{name} {version}" for name, version in versions.items()) \
        + f"; {machine['roots']} roots in the system's bundle"
    yield f"- commit {document['revision']}, {document['when']}, {rounds}"


def markdown(results, image):
    """All of a run; `image(workload)` is the Markdown of a workload's plots."""
    lines = [*image("peers"), *markdown_facts(results), "", "### All bars", "", *image("bars"), *markdown_verdicts(results), ""]
    for workload in results.workloads():
        picture = image(workload.name)
        for part in results.parts(workload):
            lines += [f"### {headline(results, part)}", "", *picture, *markdown_table(*rows_of(results, part)), ""]
            picture = []
    return "\n".join(lines)
