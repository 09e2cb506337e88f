"""What `compare` and `instructions` share: binaries, generated logs, the machine's description.

Takes command-line options. Gives paths and facts. Never measures.
"""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def say(text):
    print(text, file=sys.stderr, flush=True)


def add_binary_options(parser):
    parser.add_argument("--bin", type=Path, help="a built dsh-audit (otherwise built here, release)")
    parser.add_argument("--loggen", type=Path, help="a built dsh-loggen (otherwise built here, release)")
    parser.add_argument("--dir", type=Path, help="folder for the generated logs, kept (otherwise a temporary one)")


def binaries(options):
    """The auditor and the generator, built if they were not given."""
    built = ROOT / "target" / "release"
    if not (options.bin and options.loggen):
        say("building in release mode …")
        command = ["cargo", "build", "--release", "--quiet", "--features", "loggen"]
        command += ["--bin", "dsh-loggen"] if options.bin else ["--bins"]
        subprocess.run(command, cwd=ROOT, check=True)
    return (options.bin or built / "dsh-audit").resolve(), (options.loggen or built / "dsh-loggen").resolve()


@contextlib.contextmanager
def log_folder(given):
    """A folder for big files: the given one, which stays, or one that goes."""
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="dsh-audit-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_log(loggen, folder, name, *options):
    """Generates a log (or, with --count, a folder of logs) once; the same options give the same bytes."""
    path = folder / name
    if not path.exists():
        unfinished = folder / f"{name}.part"
        subprocess.run([loggen, *options, "-o", unfinished], check=True, stderr=subprocess.DEVNULL)
        os.replace(unfinished, path)
    return path


def tool_version(*command):
    """The first line that a program says about itself, or None if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def cpu():
    """The processor's name and its flags."""
    name, flags = platform.processor() or platform.machine(), set()
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            elif key.strip() in ("flags", "Features"):
                flags = set(value.split())
                break
    return name, flags


def machine():
    """One line about the machine."""
    name, _ = cpu()
    memory = ""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    return f"{name}, {os.cpu_count()} threads{memory}, {platform.system()} {platform.release()}"
