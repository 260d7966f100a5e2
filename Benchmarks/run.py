#!/usr/bin/python3
"""Measures our client beside its peers and the physical limit, in the same minutes on the same machine.

`./dev bench` calls this; `./dev bench --help` says what it takes. How it measures is
told in Docs/Benchmarks/README.md, and who does what here in runner/__init__.py.
"""
import sys

sys.dont_write_bytecode = True

from runner.main import main  # noqa: E402

main()
