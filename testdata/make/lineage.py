"""Cases of family 09: forks and their parents, and where a log lies."""
import copy

from case import fail, passes
from dialects import Head, Mid, V4
from log import text


def parent(dialect, **header):
    """A session of two turns, with a tool call in the first."""
    log = dialect(**header)
    log.tool_turn()
    log.turn_of(words="And again.", reason=None)
    return log


def fork(log, dialect, until=None, rows=None):
    """A session that `dialect`'s build forked from `log`: its events before `until`, the mark of a load, a turn of its own."""
    until = log.seq if until is None else until
    rows = rows if rows is not None else [row for row in log.rows if row["seq"] < until]
    seeded = {"seedLength": until} if dialect.version == 0 else {"isSeeded": True}
    child = dialect(**{**dialect.marks(log), "id": "s-2", "parentSession": "s-1", **seeded})
    child.rows = copy.deepcopy(rows)
    child.seq = until
    child.turn = max(row["data"]["turn"] for row in rows if row["type"] == "turn/start")
    child.requests = 2
    child.end_seed(**({} if dialect.version == 0 else {"inherited": True}))
    child.turn_of(words="Go on.", reason="resume")
    return child


def packed(rows):
    """The same rows, each run of text deltas in one."""
    out = []
    for row in rows:
        chunk = row["data"].get("chunk", {})
        last = out[-1] if out else {}
        if chunk.get("type") != "text-delta":
            out.append(row)
        elif last.get("type") == "text-chunks" and last["data"]["index"] == chunk["index"]:
            last["data"]["dt"].append(1)
            last["data"]["texts"].append(chunk["text"])
        else:
            place = {key: row["data"][key] for key in ("turn", "step")}
            data = {**place, "index": chunk["index"], "dt": [], "texts": [chunk["text"]]}
            out.append({"type": "text-chunks", "seq0": row["seq"], "time0": row["time"], "data": data})
    return out


def upgraded(row):
    """An event of 2026-07-25 as a build of August writes it into a fork."""
    row = copy.deepcopy(row)
    data, id = row["data"], f"legacy-message:s-1:{row['seq']}"
    if row["type"] == "turn/start":
        row["data"] = {"turn": data["turn"]}
    elif row["type"] == "user/message":
        row["data"] = {**data, "id": id, "role": "user"}
    elif row["type"] == "assistant/message":
        source = {**data["provenance"], "kind": "model"}
        message = {"id": id, "role": "assistant", "content": data["content"], "source": source}
        row["data"] = {"turn": data["turn"], "step": data["step"], "usage": data["usage"], "message": message}
    elif row["type"] == "tool/result":
        block = {"type": "tool-result", "toolCallId": data["callId"], "content": data["content"], "isError": data["isError"]}
        message = {"id": id, "role": "user", "content": [block], "source": {"kind": "tool", "callId": data["callId"]}}
        row["data"] = {"turn": data["turn"], "step": data["step"], "message": message}
    return row


def both(log):
    return {"args": "parent.jsonl", "files": {"parent.jsonl": log.bytes()}}


# 0901 inherited-prefix-differs
log = parent(Head)
passes("0901", "same-events", fork(log, Head), **both(log))
passes("0901", "half-of-them", fork(log, Head, log.find("turn/start", 1)["seq"]), **both(log))
passes("0901", "packed-in-the-fork", fork(log, Head, rows=packed(log.rows)), **both(log))
altered = fork(log, Head)
message = altered.find("tool/result")
message["data"]["message"]["content"][0]["content"] = [text("ho")]
fail("0901", "another-result", altered, f"0901 error {message['seq']}", **both(log))
altered = fork(log, Head, rows=packed(log.rows))
row = altered.find("text-chunks")
row["data"]["texts"][1] = "xxx."
seq = row["seq0"] + 1
fail("0901", "another-delta-in-a-packed-row", altered, f"0901 error {seq}", **both(log))
short = parent(Head)
short.rows = [row for row in short.rows if row["seq"] < log.find("turn/start", 1)["seq"]]
seq = log.find("turn/start", 1)["seq"]
fail("0901", "parent-is-shorter", fork(log, Head), f"0901 error {seq}", **both(short))

old = parent(Mid)
passes("0901", "upgraded-events", fork(old, Head, rows=[upgraded(row) for row in old.rows]), **both(old))
altered = fork(old, Head, rows=[upgraded(row) for row in old.rows])
message = altered.find("user/message")
message["data"]["content"] = [text("Echo ho.")]
fail("0901", "upgraded-and-altered", altered, f"0901 error {message['seq']}", **both(old))

passes("0901", "version-4", fork(parent(V4), V4), **both(parent(V4)))

# An inherited fault is the parent's alone.
faulty = Head()
faulty.begin()
blocks, usage = [text("Hello.")], faulty.usage()
chunks = faulty.stream(blocks, usage)
faulty.message(blocks, usage, faulty.chunks(chunks[:1] + chunks))
faulty.step_end()
faulty.turn_end()
passes("0901", "the-parents-fault", fork(faulty, Head), **both(faulty))
fail("0902", "alone-with-the-parents-fault", fork(faulty, Head), "0902 note -", "0705 warning 5")

# 0902 parent-not-found
fail("0902", "alone", fork(log, Head), "0902 note -")
fail("0902", "another-session-beside", fork(log, Head), "0902 note -", **both(parent(Head, id="s-3")))
fail("0902", "parent-of-another-version", fork(log, Head), "0902 note -", **both(parent(V4)))
passes("0902", "parent-beside", fork(log, Head), **both(log))
passes("0902", "no-parent", parent(Head))

# 0903 path-does-not-fit
plain = Head()
plain.turn_of()
fail("0903", "another-sessions-directory", plain, "0903 warning -", path="--repo--/s-8/session.jsonl")
fail("0903", "another-projects-directory", plain, "0903 warning -", path="--home-me--/s-1/session.jsonl")
fail("0903", "oldest-layout", plain, "0903 warning -", path="cwd-0123456789ab/s-1.jsonl")
passes("0903", "own-directory", plain, path="--repo--/s-1/session.jsonl")
passes("0903", "another-layout", plain, path="logs/x/session.jsonl")
