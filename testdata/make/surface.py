"""Cases of family 04: sequence and surface."""
from case import fail, passes
from dialects import Head, Mid, Seed, V2, V3, V4
from log import text


def plain(dialect=Mid, turns=1):
    log = dialect()
    log.turn_of()
    for _ in range(turns - 1):
        log.turn_of(reason=None)
    return log


def open_turn(dialect=Mid):
    """A log of two steps, the first with a tool; its turn is still open, and no step is."""
    log = dialect()
    log.begin("Echo hi.")
    log.tool_step()
    log.step_start()
    log.answer(text("Done."))
    log.step_end()
    return log


def surface(log):
    """The seqs of the events that were appended to the surface."""
    return [row["seq"] for row in log.rows if isinstance(row, dict) and row.get("surfaceOp") == "append"]


def replaced(start, end, sources, dialect=Mid):
    """An open turn with a plugin's replace behind it; ends and sources are positions on the surface."""
    log = open_turn(dialect)
    nodes = surface(log)
    source = None if dialect is V4 else {"kind": "plugin", "plugin": "notes"}
    row = log.user("In short: hi.", source, (nodes[start], nodes[end]), [nodes[at] for at in sources])
    log.turn_end()
    return log, row


# 0401 seq-gap
log = plain()
log.drop(log.find("assistant/chunk", 1))
fail("0401", "lost-delta", log, "0401 error 6")
log = plain(turns=2)
del log.rows[:13]
fail("0401", "front-cut", log, "0401 error 13")
log = plain(Head)
log.remark()
log.rows[-1]["seq"] += 7
fail("0401", "gap-behind-turn", log, "0401 error 20")
passes("0401", "dense", plain(turns=2))

# 0402 seq-duplicate
log = plain()
log.rows.insert(2, dict(log.rows[1]))
fail("0402", "equal-payload", log, "0402 error 1")
log = plain()
again = dict(log.rows[1], data={"content": [text("Say ho.")], "source": {"kind": "user"}})
log.rows.insert(2, again)
fail("0402", "other-payload", log, "0402 error 1")
passes("0402", "two-turns", plain(turns=2))

# 0403 seq-rewind
log = plain()
branch = Mid()
branch.turn_of(text("Hullo."))
branch.turn_of(reason=None)
log.rows += branch.rows[4:]
fail("0403", "second-writer", log, "0403 error 4")
passes("0403", "resumed", plain(turns=3))

# 0404 missing-surface-op
for name, dialect in (("old", Mid), ("released", Head), ("version-2", V2)):
    log = plain(dialect)
    row = log.find("user/message")
    del row["surfaceOp"]
    fail("0404", name, log, f"0404 error {row['seq']}")
log = plain(V3)
del log.find("system/message")["surfaceOp"]
fail("0404", "system-message", log, "0404 error 2")
passes("0404", "append", plain(Head))

# 0405 unexpected-surface-op
log = plain()
log.find("step/end")["surfaceOp"] = "append"
fail("0405", "step-end", log, "0405 error 11")
log = plain(Head)
log.find("step/end")["sourceEventSeqs"] = [0]
fail("0405", "sources-only", log, "0405 error 11")
log = plain(V3)
log.add("acme/note", {}, append=True, sources=[1], ignorable=True)
passes("0405", "ignorable-in-version-3", log)

# 0406 bad-surface-op
for name, dialect, op in (
    ("unknown-word", Mid, "push"),
    ("other-operation", Mid, {"op": "insert", "start": 1, "end": 1}),
    ("extra-member", Mid, {"op": "replace", "start": 1, "end": 1, "by": "me"}),
    ("keys-of-version-3", Head, {"op": "replace", "startSeq": 2, "endSeq": 2}),
    ("keys-of-version-0", V3, {"op": "replace", "start": 3, "end": 3}),
    ("fractional-end", Mid, {"op": "replace", "start": 1, "end": 1.5}),
):
    log, row = replaced(0, 0, [0], dialect)
    row["surfaceOp"] = op
    fail("0406", name, log, f"0406 error {row['seq']}")
log = plain(V3)
head = log.find("system/message")
log.rows[log.rows.index(head)] = {"type": "acme/note", "seq": head["seq"], "time": head["time"], "data": {}, "ignorable": True}
fail("0406", "no-system-head", log, "0406 error 3")
log, row = replaced(0, 1, [0, 1], V3)
fail("0406", "head-shadowed", log, f"0406 error {row['seq']}")
log = plain(V3)
log.turn_start()
log.step_start()
head = log.find("system/message")["seq"]
log.system("You are a tester of tools.", (head, head), [head])
log.user("Say hi again.")
log.request_header("series")
log.answer(text("Hello."))
log.step_end()
log.turn_end()
passes("0406", "head-replaced-by-system-message", log)
passes("0406", "replace", replaced(0, 3, [0, 1, 2, 3])[0])

# 0407 bad-source-seqs
def sources(name, dialect, change, type="tool/result"):
    log = open_turn(dialect)
    log.turn_end()
    row = log.find(type)
    row["sourceEventSeqs"] = change(row)
    fail("0407", name, log, f"0407 error {row['seq']}")


sources("later", Mid, lambda row: [row["seq"] + 1])
sources("itself", Head, lambda row: [row["seq"]])
sources("twice", Head, lambda row: [row["seq"] - 1, row["seq"] - 1])
sources("empty", Head, lambda row: [])
sources("negative", Mid, lambda row: [-1])
sources("no-integer", Mid, lambda row: ["1"])
sources("ranges-do-not-ascend", Head, lambda row: [[5, 7], 2])
sources("range-reversed", Head, lambda row: [[7, 5]])
sources("answer-in-version-2", V2, lambda row: [0], "assistant/message")
log = plain(Head)
log.find("assistant/message")["sourceEventSeqs"] = [[4, 9]]
passes("0407", "range", log)
log = plain(Head)
log.begin(reason=None)
log.message([], None, [])
log.step_end()
log.turn_end()
passes("0407", "answer-without-chunks", log)
log = open_turn(V4)
log.turn_end()
passes("0407", "in-version-4", log)

# 0408 replace-end-unknown
log, row = replaced(0, 3, [0, 1, 2, 3])
row["surfaceOp"]["start"] = log.find("step/start")["seq"]
fail("0408", "start-is-no-message", log, f"0408 error {row['seq']}")
log, row = replaced(0, 3, [0, 1, 2, 3])
row["surfaceOp"]["end"] = row["seq"]
fail("0408", "end-is-itself", log, f"0408 error {row['seq']}")
log = open_turn(V3)
nodes = surface(log)
log.user("In short: hi.", None, (nodes[1], nodes[2]), nodes[1:3])
row = log.user("Shorter: hi.", None, (nodes[2], nodes[3]), nodes[2:4])
log.turn_end()
fail("0408", "start-was-replaced", log, f"0408 error {row['seq']}")


def replaced_twice(swap=False):
    """A replace of the first two messages, and one from its result to the third: the start is the larger number."""
    log = open_turn()
    nodes = surface(log)
    first = log.user("In short: hi.", None, (nodes[0], nodes[1]), nodes[:2])["seq"]
    ends = (nodes[2], first) if swap else (first, nodes[2])
    row = log.user("Shorter: hi.", None, ends, [first, nodes[2]])
    log.turn_end()
    return log, row


passes("0408", "start-is-a-replacement", replaced_twice()[0])

# 0409 replace-reversed
log, row = replaced(2, 1, [1, 2])
fail("0409", "reversed", log, f"0409 error {row['seq']}")
log, row = replaced_twice(swap=True)
fail("0409", "ascending-numbers", log, f"0409 error {row['seq']}")
passes("0409", "descending-numbers", replaced_twice()[0])

# 0410 replace-not-covered
for name, dialect in (("old", Seed), ("released", Head), ("version-4", V4)):
    log, row = replaced(1, 3, [1, 3], dialect)
    notes = ["0310 note -"] if dialect is Seed else []
    fail("0410", name, log, *notes, f"0410 error {row['seq']}")
log, row = replaced(1, 3, [1, 2, 3], Head)
row["sourceEventSeqs"].insert(0, 0)
passes("0410", "one-more-source", log)

# 0411 rewrite-changes-more-than-content
def rewritten(change, dialect=Head, start=2, end=2):
    """A log whose tool result is rewritten behind its step, and then changed further."""
    log = open_turn(dialect)
    nodes = surface(log)
    first = log.find("tool/result")
    row = log.add("tool/result", {**first["data"]}, replace=(nodes[start], nodes[end]), sources=nodes[start:end + 1])
    message = dict(first["data"]["message"])
    row["data"]["message"] = message
    message["content"] = [dict(message["content"][0], content=[text("h…")])] if dialect is not V4 else [text("h…")]
    change(row["data"])
    log.turn_end()
    return log, row


def failed(data):
    data["message"]["content"][0]["isError"] = True


def renamed(data):
    data["message"]["id"] = "id-other"


def same(data):
    pass


def reordered(data):
    data["message"] = dict(reversed(data["message"].items()))


for name, change, where in (
    ("error-mark", failed, {}),
    ("message-id", renamed, {}),
    ("message-id-in-version-4", renamed, {"dialect": V4, "start": 3, "end": 3}),
    ("shadows-an-answer-too", same, {"start": 1}),
    ("shadows-an-answer", same, {"start": 1, "end": 1}),
):
    log, row = rewritten(change, **where)
    fail("0411", name, log, f"0411 error {row['seq']}")
passes("0411", "content-only", rewritten(same)[0])
passes("0411", "other-member-order", rewritten(reordered)[0])
passes("0411", "content-only-in-version-4", rewritten(same, V4, 3, 3)[0])
