"""The runner of `./dev bench`.

workloads   what is measured as data; bars: how good we must be; clients: who is measured
servers     nginx, the sink, wsecho and flood; trust: throw-away certificates; machine: cores, quiet, versions
measuring   one measurement, the rounds; coldstart and counts: two that are made in other ways; programs: reports
results     medians, ratios, verdicts, the JSON file
tables      for a terminal and for Markdown; plots: the SVG files; publishing: Docs/Benchmarks
"""
