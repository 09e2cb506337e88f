"""A fixture: a log, and the findings that the rules demand of it."""

CASES = []


class Case:
    """`findings` are lines such as "0401 error 5": code, level, seq (`-` for none), in the order of the report. Cache
    and lineage (08, 09) are left out: they are judged over whole sessions, and have fixtures elsewhere."""

    def __init__(self, code, name, log, findings, args=None, compressed=False, files=None):
        self.code, self.name = code, name
        self.log = log if isinstance(log, bytes) else log.bytes()
        self.findings = [f"DSH{finding}" for finding in findings]
        self.args, self.compressed, self.files = args, compressed, files or {}

    def paths(self):
        """Name and bytes of every file, below the folder of the rule."""
        suffix = ".jsonl.zstd" if self.compressed else ".jsonl"
        if self.files:
            yield f"{self.name}/session{suffix}", self.log
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
