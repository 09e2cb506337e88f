"""Counts the instructions that `dsh-audit verify` takes per byte, with valgrind.

Takes the binaries and a folder for logs. Gives numbers that repeat where seconds do not. Never judges them.

Two sizes of each log are measured: the difference is the cost per byte, the rest is the cost of starting. The logs have long
steps, so that lines of chunks outweigh headers in them as they do in big logs.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

import support

SMALL, LARGE = "2MB", "6MB"
STEP = ["--step-bytes", "200KB"]


@dataclass(frozen=True)
class Form:
    """One form of the session: options of the generator, and the project's bar for the named measure."""

    name: str
    options: tuple
    measure: str
    bar: float


FORMS = [
    Form("raw", ("--shape", "released"), "per_raw_byte", 10),
    Form("packed", ("--shape", "packed"), "per_raw_byte", 7),
    Form("packed-zstd", ("--shape", "packed", "--zstd"), "per_raw_byte", 11),
    Form("v4", ("--shape", "v4"), "per_byte", 20),
]


class Failed(Exception):
    """Verify did not accept a healthy log, or valgrind did not count."""


def valgrind():
    """Whether valgrind is there, installed by the package manager if need be."""
    if shutil.which("valgrind"):
        return True
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "valgrind"]):
        subprocess.run(command, **quiet)
    return bool(shutil.which("valgrind"))


def cpu_class():
    """The vector instructions that change which code a binary picks at run time."""
    _, flags = support.cpu()
    return " ".join(sorted(flags & {"avx2", "avx512bw", "sse4_2", "asimd", "sve"})) or "unknown"


def measure(audit, loggen, folder, form):
    """Instructions per decoded byte of the log, per byte of the same session as raw lines, and those of starting."""
    counts, sizes, raws = [], [], []
    for size in (SMALL, LARGE):
        make = lambda name, *options: support.make_log(loggen, folder, f"count-{name}-{size}", *options, "--bytes", size, *STEP)  # noqa: E731
        log = make(form.name, *form.options)
        decoded = make("packed", "--shape", "packed") if "--zstd" in form.options else log
        counts.append(count(audit, log))
        sizes.append(decoded.stat().st_size)
        raws.append(make("raw", "--shape", "released").stat().st_size)
    spent = counts[1] - counts[0]
    per_byte = spent / (sizes[1] - sizes[0])
    return {
        "per_byte": round(per_byte, 3),
        "per_raw_byte": round(spent / (raws[1] - raws[0]), 3),
        "start": round(counts[0] - per_byte * sizes[0]),
    }


def count(audit, log):
    """The instructions of one run of verify."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command += [audit, "verify", "--no-config", "--mmap=always", "--color=never", log]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Failed(f"verify gave exit status {done.returncode} for {log.name}, a healthy log:\n{done.stderr[-1000:]}")
    return int(found.group(1).replace(",", ""))
