#!/usr/bin/env python3
"""Replays the traces of fuzz/findings on releases of sglang and prints what each release does, as a Markdown table.

    adapters/findings_matrix.py [--poolproof FILE] [--python FILE] [--device cuda] DIR...

Each DIR is an unpacked release, as adapters/fetch_release.sh prints it; its last part is the column's head.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACES = sorted((ROOT / "fuzz" / "findings").glob("*.trace"))


def outcome(options, release, trace):
    """The cause's id, "holds", or "-" where the release has no such pool or call."""
    adapter = [options.python, str(ROOT / "adapters" / "sglang_adapter.py"), "--sglang", release]
    adapter += ["--device", options.device]
    run = subprocess.run(
        [options.poolproof, "replay", str(trace), "--impl", "exec:" + shlex.join(adapter), "--json", "-"]
        + ["--time-limit", "120"],  # a first call on a device may compile kernels
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not run.stdout:
        raise SystemExit(f"{release}: {run.stderr.strip()}")
    result = json.loads(run.stdout)["results"][0]
    if result["status"] == "could_not_run":
        return "-" if "offer" in result["error"] else "could not be run: " + result["error"]
    return result["failure"]["cause"] if result["failure"] else "holds"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poolproof", default=str(ROOT / "build" / "poolproof"))
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("releases", nargs="+", metavar="DIR")
    options = parser.parse_args()
    heads = [pathlib.Path(release).name for release in options.releases]
    print("| trace | " + " | ".join(heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    for trace in TRACES:
        cells = [outcome(options, release, trace) for release in options.releases]
        print(f"| {trace.stem} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
