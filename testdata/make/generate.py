#!/usr/bin/env python3
"""Writes `testdata/rules` anew from the cases beside this script; the files it writes are the ones under review.

  python3 testdata/make/generate.py           write
  python3 testdata/make/generate.py --check   exit 1 if a file differs, is missing, or is not ours

Expectations are written here by hand, from the rules: they are never taken from the tool's output.
"""
import os
import sys

sys.dont_write_bytecode = True

import bytes_and_lines, cache, dialect, header, lineage, records, responses, surface, turns  # noqa: E401,F401 (each adds its cases)
from case import CASES

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules")


def wanted():
    files = {}
    for case in CASES:
        for name, data in case.paths():
            path = f"DSH{case.code}/{name}"
            assert path not in files, path
            files[path] = data
    return files


def present():
    files = {}
    for folder, _, names in os.walk(ROOT):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, ROOT).replace(os.sep, "/")] = file.read()
    return files


def main():
    want, have = wanted(), present()
    differs = sorted(path for path in want.keys() | have.keys() if want.get(path) != have.get(path))
    if sys.argv[1:] == ["--check"]:
        print("\n".join(differs) or f"{len(want)} files as generated")
        return 1 if differs else 0
    for path in differs:
        full = os.path.join(ROOT, path)
        if path not in want:
            os.remove(full)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(want[path])
    print(f"{len(differs)} of {len(want)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
