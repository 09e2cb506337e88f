"""Cases of family 03: dialect."""
from case import fail, passes
from dialects import Head, Mid, Seed, V2, V3, V4
from log import ECHO, text


def plain(dialect=Mid, **header):
    log = dialect(**header)
    log.turn_of()
    return log


def with_event(dialect, type, data, **more):
    """A plain log with one more event before its `turn/end`; gives the log and the event's seq."""
    log = dialect()
    log.begin()
    log.answer(text("Hello."))
    log.step_end()
    row = log.add(type, data, **more)
    log.turn_end()
    return log, row["seq"]


# 0301 unsupported-version
fail("0301", "version-5", plain(V4, version=5), "0301 error -")
log = Seed(version=1)
log.add("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": {"kind": "user"}}})
fail("0301", "version-1-of-june", log, "0301 error -")
passes("0301", "version-1-of-september", plain(Head, version=1))
passes("0301", "version-2", plain(V2))
passes("0301", "version-4", plain(V4))


def two_steps(second):
    """A seed log with a tool call, and `second` between the start of its second step and the chunks there."""
    log = Seed()
    log.begin("Echo hi.", system="Be brief.")
    log.tool_step()
    log.step_start()
    seq = second(log)["seq"]
    log.answer(text("Done."))
    log.step_end()
    log.turn_end()
    return log, seq


# 0302 legacy-header-delta
delta = {"system": {"keepStart": 0, "keepEnd": 0, "insert": ["Be kind."]}, "config": {"model": "acme-2"}}
log, seq = two_steps(lambda log: log.add("request/header-delta", delta))
fail("0302", "delta", log, "0310 note -", f"0302 error {seq}")
log, seq = two_steps(lambda log: log.request_header("change", system="Be kind."))
passes("0302", "full-header", log, "0310 note -")

# 0303 legacy-fallback-reason
log, seq = two_steps(lambda log: log.request_header("fallback", system="Be brief.", tools=[ECHO]))
fail("0303", "fallback", log, "0310 note -", f"0303 error {seq}")
passes("0303", "initial", plain(Seed), "0310 note -")

# 0304 legacy-mode-set
log, seq = with_event(Mid, "mode/set", {"mode": "plan"})
fail("0304", "mode-set", log, f"0304 error {seq}")
log, seq = with_event(Head, "plan/mode", {"active": True})
passes("0304", "plan-mode", log)

# 0305 unknown-event-type
log, seq = with_event(Head, "acme/trace", {"span": "a1"})
log.add("acme/trace", {"span": "a2"})
fail("0305", "plugin-event", log, f"0305 error {seq}")
log, seq = with_event(Head, "context/message", {"content": [text("It rains.")], "source": {"kind": "plugin", "plugin": "weather"}}, append=True)
fail("0305", "retired-type", log, f"0305 error {seq}")
log, seq = with_event(Mid, "acme/trace", {"span": "a1"})
fail("0305", "old-turn", log, f"0305 note {seq}")
log, seq = with_event(V3, "assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "finish", "reason": {"kind": "stop"}}})
fail("0305", "chunk-in-version-3", log, f"0305 error {seq}")
log, seq = with_event(Head, "acme/trace", {"span": "a1"}, ignorable=True)
passes("0305", "ignorable", log)
log, seq = with_event(V4, "workspace/changes", {"turn": 1})
passes("0305", "known-in-version-4", log)

# 0306 newer-sibling
fail("0306", "sibling", plain(Head), "0306 note -", files={"session.v3.jsonl": plain(V3).bytes()})


def turns(dialect, number, answer="Hello."):
    """A session of so many turns under one system prompt."""
    log = dialect()
    prompt = {} if dialect.version > 2 else {"system": "You are a tester."}
    for turn in range(number):
        log.turn_of(text(answer), reason=None if turn else "initial", **({} if turn else prompt))
    return log


def beside(newer):
    return {"args": "--all-generations session.v3.jsonl", "files": {"session.v3.jsonl": newer.bytes()}}


fail("0306", "newer-has-all", turns(Head, 2), "0306 note -", **beside(turns(V3, 3)))
fail("0306", "newer-lacks-a-turn", turns(Head, 2), "0306 warning -", **beside(turns(V3, 1)))
fail("0306", "newer-says-something-else", turns(Head, 2), "0306 warning -", **beside(turns(V3, 2, "Goodbye.")))
passes("0306", "other-names", plain(Head), files={"session.v0.jsonl": plain(Head).bytes(), "session.v3.jsonl.bak": plain(V3).bytes()})

# 0307 redacted-header
log = Mid()
log.turn_of(system="{{system}}", tools="{{tools}}")
fail("0307", "system-and-tools", log, "0307 note 3")
log = Mid()
log.turn_of(system="Write {{name}} for names.", tools=[ECHO])
passes("0307", "braces-in-text", log)

# 0308 bad-session-header
def bad_header(name, dialect=Head, without=(), **changes):
    log = plain(dialect, **changes)
    for key in without:
        del log.header[key]
    fail("0308", name, log, "0308 error -")


bad_header("no-id", without=["id"])
bad_header("cwd-relative", cwd="repo")
bad_header("created-at-is-text", createdAt="2026-08-21")
bad_header("version-is-text", version="0")
bad_header("seed-length-negative", seedLength=-1)
bad_header("retired-key", sandboxMode="read-only")
bad_header("unknown-origin", origin="cron")
bad_header("seed-length-in-version-3", V3, seedLength=0)
bad_header("seeded-without-inheritance", V3, isSeeded=True)
bad_header("seeded-is-missing", V2, without=["isSeeded"])
passes("0308", "every-member", plain(Head, origin="subagent", agentPreset="scout"))
log = plain(Head, parentSession="s-0", seedLength=13)
log.end_seed()
passes("0308", "fork", log, "0902 note -")

# 0309 ambiguous-request
SPREAD = 1785163185000


def on_the_edge(**config):
    """A log of the hours when the spread form was used with the provenance derivation."""
    log = Mid()
    log.created = log.header["createdAt"] = SPREAD
    log.turn_of(config={**Mid.config, **config})
    return log


fail("0309", "member-order", on_the_edge(temperature=1), "0309 note 2")
passes("0309", "members-that-stand-alike", on_the_edge())

# 0310 seed-era-header
fail("0310", "no-delegation-depth", plain(Seed), "0310 note -")
passes("0310", "delegation-depth", plain(Mid))
