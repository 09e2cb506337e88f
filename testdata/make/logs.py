"""Writes testdata/logs/: whole sessions, healthy and damaged, for the README, the tests of the command line, and all formats.

  python3 testdata/make/logs.py [--check] [--loggen target/debug/dsh-loggen]

Healthy sessions come from `dsh-loggen` (cargo build --features loggen), which depends on its options alone; the damage is done here.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LOGS = os.path.join(HERE, "..", "logs")

# folder: what dsh-loggen is asked for
HEALTHY = {
    "compacted/session.jsonl.zstd": "--shape packed --zstd --steps 24 --step-bytes 700 --cadence 6 --seed 7",
    "clock/session.jsonl": "--shape late --steps 8 --step-bytes 600 --cadence 9 --seed 2 --with clock --without compactions",
    "fork-parent/session.jsonl": "--shape released --steps 12 --step-bytes 300 --cadence 20 --seed 11",
    "fork-child/session.jsonl": "--shape released --steps 12 --step-bytes 300 --cadence 20 --seed 12 --fork-of 11 --fork-turn 1",
    "version-4/session.v4.jsonl": "--shape v4 --steps 8 --step-bytes 700 --cadence 5 --seed 4",
}


def generate(loggen, options):
    return subprocess.run([loggen, *options.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def text(rows):
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)


def two_writers(loggen):
    """A second process took the session up from the middle of its last turn while the first one still wrote."""
    log = rows(generate(loggen, "--shape released --steps 5 --step-bytes 300 --cadence 20 --seed 5"))
    turn = max(at for at, row in enumerate(log) if row["type"] == "turn/start")
    cut = next(at for at, row in enumerate(log) if at > turn and row["type"] == "user/message") + 1
    branch = [dict(row) for row in log[cut:cut + 12]]
    for row in branch:
        row["time"] += 4000
    return text(log[:cut + 20] + branch)


def legacy_delta(loggen):
    """A build of 2026-07-10 wrote a changed header as the difference to the one before."""
    log = rows(generate(loggen, "--shape seed --steps 3 --step-bytes 300 --cadence 20 --seed 6"))
    at = max(at for at, row in enumerate(log) if row["type"] == "step/start") + 1
    before = log[at - 1]
    delta = {"type": "request/header-delta", "seq": before["seq"] + 1, "time": before["time"], "data": {"system": {"keepStart": 24, "keepEnd": 0, "insert": ["Today is Friday."]}}}
    for row in log[at:]:
        row["seq"] += 1
        if "sourceEventSeqs" in row:
            row["sourceEventSeqs"] = [seq + (seq >= delta["seq"]) for seq in row["sourceEventSeqs"]]
    return text(log[:at] + [delta] + log[at:])


def torn(loggen):
    """The machine lost power while the last line was written."""
    log = generate(loggen, "--shape released --steps 3 --step-bytes 300 --cadence 20 --seed 8")
    lines = log.splitlines(keepends=True)
    at = max(at for at, line in enumerate(lines) if b'"type":"assistant/message"' in line)
    return b"".join(lines[:at]) + lines[at][:120]


DAMAGED = {"two-writers/session.jsonl": two_writers, "legacy-delta/session.jsonl": legacy_delta, "torn/session.jsonl": torn}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--loggen", default=os.path.join(HERE, "..", "..", "target", "debug", "dsh-loggen"))
    args = parser.parse_args()
    made = {name: generate(args.loggen, options) for name, options in HEALTHY.items()}
    made |= {name: make(args.loggen) for name, make in DAMAGED.items()}
    wrong = []
    for name, content in made.items():
        path = os.path.join(LOGS, name)
        if args.check:
            if not os.path.exists(path) or open(path, "rb").read() != content:
                wrong.append(name)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(content)
    for name in wrong:
        print(f"testdata/logs/{name} is not what testdata/make/logs.py writes")
    sys.exit(1 if wrong else 0)


main()
