"""A fixture: a log, and the findings that the rules demand of it."""

CASES = []


class Case:
    """`findings` are lines such as "0401 error 5": code, level, seq (`-` for none), in the order of the report. The
    cache (08) is left out: it is judged over whole sessions, and has fixtures elsewhere. `path` is where the log lies in its folder."""

    def __init__(self, code, name, log, findings, args=None, compressed=False, files=None, path=None):
        self.code, self.name = code, name
        self.log = log if isinstance(log, bytes) else log.bytes()
        self.findings = [f"DSH{finding}" for finding in findings]
        self.args, self.compressed, self.files, self.path = args, compressed, files or {}, path

    def paths(self):
        """Name and bytes of every file, below the folder of the rule."""
        suffix = ".jsonl.zstd" if self.compressed else ".jsonl"
        if self.files or self.path:
            yield f"{self.name}/{self.path or 'session' + suffix}", self.log
        else:
            yield self.name + suffix, self.log
        yield self.name + ".expected", "".join(line + "\n" for line in self.findings).encode()
        if self.args:
            yield self.name + ".args", (self.args + "\n").encode()
        for name, data in self.files.items():
            yield f"{self.name}/{name}", data


def fail(code, name, log, *findings, **more):
    """A log that breaks rule `code`: among `findings` is one of it."""
    assert any(finding.startswith(code) for finding in findings), (code, name)
    CASES.append(Case(code, "fail-" + name, log, findings, **more))


def passes(code, name, log, *findings, **more):
    """A log that comes close to breaking rule `code`; `findings` of other rules may be unavoidable."""
    assert not any(finding.startswith(code) for finding in findings), (code, name)
    CASES.append(Case(code, "pass-" + name, log, findings, **more))
