"""The runner of `./dev bench`.

workloads   what is measured and the bars, as data; clients: who is measured
servers     nginx and the sink; trust: throw-away certificates; machine: cores, quiet, versions
measuring   one measurement, the rounds; coldstart and counts: the two that are not requests per second
results     medians, ratios, verdicts, the JSON file
tables      for a terminal and for Markdown; plots and drawing: the SVG files; publishing: Docs/Benchmarks
"""
