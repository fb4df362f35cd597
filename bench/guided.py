#!/usr/bin/env python3
"""How many ops `poolproof check` runs until it finds a fault, guided by abstract state and not, over many seeds.

Usage: guided.py PROGRAM [SEEDS] [FAULT...]; without faults, those that take the longest to find.
"""
import json
import math
import statistics
import subprocess
import sys
import tempfile

SLOWEST = ["B22", "restore-forgets-mapping", "restore-forgets-staged", "B30", "B87", "merge-without-sort",
           "saver-destroy-leaks", "B86", "slot-given-twice", "B41"]
TRACES = "6000"


def ops_until_found(program, fault, seed, guided, folder):
    command = [program, "check", "--impl", fault, "--seed", str(seed), "--traces", TRACES, "--json", "-",
               "--out", folder, "--progress", "never"] + (["--guided"] if guided else [])
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    result = json.loads(run.stdout)["results"][0]
    if result["status"] != "violated":
        sys.exit(f"{fault} was not found within {TRACES} traces of seed {seed}; give more TRACES")
    return result["ops"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    faults = sys.argv[3:] or SLOWEST
    ratios = []
    print("| fault | unguided, mean (median) ops | guided, mean (median) ops | ratio of means |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for fault in faults:
            plain, guided = ([ops_until_found(program, fault, seed, way, folder) for seed in range(1, seeds + 1)]
                             for way in (False, True))
            ratios.append(statistics.mean(plain) / max(1, statistics.mean(guided)))
            print(f"| {fault} | {statistics.mean(plain):.0f} ({statistics.median(plain):.0f}) | "
                  f"{statistics.mean(guided):.0f} ({statistics.median(guided):.0f}) | {ratios[-1]:.2f} |")
    print(f"\ngeometric mean of the ratios: {math.exp(statistics.mean(map(math.log, ratios))):.2f}")


if __name__ == "__main__":
    main()
