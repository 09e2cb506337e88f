"""Cases of family 06: turns, steps, tools, compaction, retries, shapes of data."""
from case import fail, passes
from dialects import Head, Mid, Seed, V2, V3, V4
from log import USER, call, text


def plain(dialect=Mid):
    log = dialect()
    log.turn_of()
    return log


def tools(dialect=Mid):
    log = dialect()
    log.tool_turn()
    return log


def step(log, start=None):
    """A step with an answer, in the open turn."""
    row = log.step_start(start)
    log.answer(text("Hello."))
    log.step_end()
    return row


# 0601 turn-out-of-order
log = plain()
row = log.turn_start(3)
step(log)
log.turn_end()
fail("0601", "number-skipped", log, f"0601 error {row['seq']}")
log = plain(Head)
row = log.turn_start(1)
step(log)
log.turn_end()
fail("0601", "number-repeated", log, f"0601 error {row['seq']}")
log = Mid()
log.begin()
log.answer(text("Hello."))
log.step_end()
row = log.turn_end()
row["data"]["turn"] = 2
fail("0601", "end-of-other-turn", log, f"0601 error {row['seq']}")
log = plain(Head)
log.begin(reason=None)
log.step_end()
row = log.turn_start()
step(log)
log.turn_end()
fail("0601", "cancelled-before-response", log, f"0601 note {row['seq']}")
log = plain(V4)
log.begin(reason=None)
log.step_end()
row = log.turn_start()
step(log)
log.turn_end()
fail("0601", "left-open-in-version-4", log, f"0601 error {row['seq']}")
log = plain()
log.turn_of(reason=None)
passes("0601", "two-turns", log)

# 0602 step-out-of-order
log = plain()
log.turn_start()
log.user("Again.")
row = step(log, 2)
log.turn_end()
fail("0602", "begins-with-two", log, f"0602 error {row['seq']}")
log = Head()
log.begin()
log.answer(text("Hello."))
log.step_end()
row = step(log, 1)
log.turn_end()
fail("0602", "number-repeated", log, f"0602 error {row['seq']}")
log = plain(V3)
log.turn_start()
row = step(log, 3)
log.turn_end()
fail("0602", "version-3", log, f"0602 error {row['seq']}")
passes("0602", "two-steps", tools())

# 0603 event-outside-step
log = Mid()
log.begin()
log.answer(text("Hello."))
log.step_end()
row = log.chunk({"type": "text-delta", "index": 0, "text": "late"})
log.turn_end()
fail("0603", "chunk-behind-step", log, f"0603 error {row['seq']}")
log = Head()
log.begin("Echo hi.")
log.tool_step()
log.step_start()
row = log.add("tool/call", {"turn": 1, "step": 1, "callId": "c1", "name": "echo", "arguments": "{}"})
log.answer(text("Done."))
log.step_end()
log.turn_end()
fail("0603", "call-of-earlier-step", log, f"0603 error {row['seq']}")
log = plain(V2)
row = log.failed_attempt()
fail("0603", "attempt-between-turns", log, f"0603 error {row['seq']}")
log = Head()
log.begin("Echo hi.")
result = log.tool_step()
message = dict(result["data"]["message"], content=[dict(result["data"]["message"]["content"][0], content=[text("…")])])
log.add("tool/result", {**result["data"], "message": message}, replace=(result["seq"], result["seq"]), sources=[result["seq"]])
log.turn_end()
passes("0603", "rewrite-behind-step", log)

# 0604 event-outside-turn
TODO = {"todos": [{"content": "Say hi", "status": "pending"}]}
log = plain(Seed)
row = log.add("todo/write", TODO)
fail("0604", "seed", log, "0310 note -", f"0604 error {row['seq']}")
log = plain(Seed)
row = log.user("Between turns.")
fail("0604", "message-in-seed", log, "0310 note -", f"0604 error {row['seq']}")
log = plain(Head)
row = log.add("todo/write", TODO)
fail("0604", "released", log, f"0604 error {row['seq']}")
log = plain(V4)
row = log.add("request/context", log.config)
fail("0604", "version-4", log, f"0604 error {row['seq']}")
log = plain(Head)
log.user("Between turns.")
log.remark()
passes("0604", "free-events", log)

# 0605 result-without-call
def with_result(dialect, id, error=None, times=1):
    """A step that calls `c1`, and results for `id` behind the first one's."""
    log = dialect()
    log.begin("Echo hi.")
    log.answer(call("c1"))
    called = log.tool_call("c1")
    log.result("c1", "hi", sources=[called["seq"]], append=True)
    row = None
    for _ in range(times):
        row = log.result(id, "hi", error, append=True)
    log.step_end()
    log.turn_end()
    return log, row


for name, dialect, id in (("unknown-call", Mid, "c9"), ("answered-twice", Head, "c1"), ("unknown-in-version-4", V4, "c9")):
    log, row = with_result(dialect, id)
    fail("0605", name, log, f"0605 error {row['seq']}")
passes("0605", "answered", tools())
log = Mid()
log.begin("Echo hi.")
log.answer(call("c1"))
log.result("c1", "Not started.", {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}, append=True)
log.step_end()
log.turn_end("interrupted")
passes("0605", "closer-of-a-call-not-started", log, f"0608 note {log.seq - 1}")

# 0606 call-without-result
def unanswered(dialect, recorded=True):
    log = dialect()
    log.begin("Echo hi.")
    answer = log.answer(call("c1"))
    if recorded:
        log.tool_call("c1")
    log.step_end()
    log.turn_end()
    return log, answer


log, row = unanswered(Mid)
fail("0606", "recorded-in-old-turn", log, f"0606 warning {row['seq']}")
log, row = unanswered(Head)
fail("0606", "recorded-in-released-turn", log, f"0606 error {row['seq']}")
log, row = unanswered(V4, recorded=False)
fail("0606", "advertised-in-version-4", log, f"0606 error {row['seq']}")
passes("0606", "answered", tools(Head))

# 0607 open-turn
log = plain()
log.begin(reason=None)
fail("0607", "in-step", log, f"0607 note {log.seq - 1}")
log = plain(Head)
log.turn_start()
fail("0607", "before-step", log, f"0607 note {log.seq - 1}")
passes("0607", "closed", plain())

# 0608 interrupted-turn
for name, dialect in (("old", Mid), ("released", Head), ("version-3", V3)):
    log = plain(dialect)
    log.begin(reason=None)
    log.step_end()
    row = log.turn_end("interrupted")
    fail("0608", name, log, f"0608 note {row['seq']}")
passes("0608", "completed", plain(V3))

# 0609 bad-compaction
def compacted(dialect=Head):
    """A turn whose first two messages are compacted behind its last step; gives log and the four rows."""
    log = dialect()
    log.begin()
    log.answer(text("Hello."))
    log.step_end()
    nodes = [row["seq"] for row in log.rows if row.get("surfaceOp") == "append" and row["type"] != "system/message"]
    rows = log.compaction(nodes[0], nodes[1], nodes)
    log.turn_end()
    return log, rows


def compaction(name, change, where, *more, dialect=Head):
    """`change` damages the bracket's rows (start, summary, checkpoint, end); the finding is at row `where`."""
    log, rows = compacted(dialect)
    seq = rows[where]["seq"]
    change(log, *rows)
    fail("0609", name, log, f"0609 error {seq}", *more)


def note(log, row):
    """Puts an ignorable event in a row's place."""
    log.rows[log.rows.index(row)] = {"type": "acme/note", "seq": row["seq"], "time": row["time"], "data": {}, "ignorable": True}


compaction("no-start", lambda log, start, summary, checkpoint, end: note(log, start), 1, "0609 error 14", "0609 error 15")
compaction("other-id", lambda log, start, summary, checkpoint, end: end["data"].update(compactionId="k2"), 3)
compaction("empty-shadow", lambda log, start, summary, checkpoint, end: summary["data"].update(shadowedSeqs=[]), 1)
compaction("range-is-not-the-ends", lambda log, start, summary, checkpoint, end: summary["data"]["shadowedRange"].update(end=summary["data"]["shadowedSeqs"][0]), 1)
compaction("count-negative", lambda log, start, summary, checkpoint, end: summary["data"].update(shadowedTokenCount=-1), 1)
compaction("owner-is-other-turn", lambda log, start, summary, checkpoint, end: (start["data"].update(turn=2), end["data"].update(turn=2)), 0)
compaction("checkpoint-with-other-id", lambda log, start, summary, checkpoint, end: checkpoint["data"]["source"].update(compactionId="k2"), 2)
compaction("other-id-in-version-4", lambda log, start, summary, checkpoint, end: end["data"].update(compactionId="k2"), 3, dialect=V4)
log = plain(Head)
log.turn_start()
log.add("compaction/start", {"compactionId": "k1", "turn": 2})
row = log.add("compaction/end", {"compactionId": "k1", "turn": 2})
log.turn_end()
fail("0609", "success-without-summary", log, f"0609 error {row['seq']}")
log = plain(Head)
log.turn_start()
log.add("compaction/start", {"compactionId": "k1", "turn": 2})
row = log.add("compaction/start", {"compactionId": "k2", "turn": 2})
log.add("compaction/end", {"compactionId": "k2", "turn": 2, "error": "cancelled"})
log.turn_end()
fail("0609", "nested", log, f"0609 error {row['seq']}")
for dialect in (Head, V3):
    passes("0609", f"whole-version-{dialect.version}", compacted(dialect)[0])
log = plain(Head)
log.turn_start()
log.add("compaction/start", {"compactionId": "k1", "turn": 2})
log.add("compaction/end", {"compactionId": "k1", "turn": 2, "error": "cancelled"})
log.turn_end()
passes("0609", "failed", log)
log = plain(Head)
log.add("compaction/start", {"compactionId": "k1", "turn": None})
log.end_seed()
log.turn_of(reason="resume")
passes("0609", "orphan-before-load", log)

# 0610 bad-retry
def retried(dialect=Head, number=1, started=None, **changes):
    """A turn whose first attempt fails and is retried; gives the log, the announcement and the start."""
    log = dialect()
    log.begin()
    log.failed_attempt()
    row = log.retry(number, **changes)
    start = log.retry_started(number, **(started or {}))
    log.answer(text("Hello."))
    log.step_end()
    log.turn_end()
    return log, row, start


for name, dialect, number, changes in (
    ("number-skipped", Head, 2, {}),
    ("beyond-maximum", Head, 1, {"maxRetries": 0}),
    ("other-provider", Head, 1, {"provider": "umbrella"}),
    ("delay-too-long", Head, 1, {"delayMs": 2147483648}),
    ("always-with-maximum", Head, 1, {"mode": "always"}),
    ("number-skipped-in-version-2", V2, 2, {}),
):
    log, row, _ = retried(dialect, number, **changes)
    fail("0610", name, log, f"0610 error {row['seq']}")
log, _, row = retried(started={"retryId": "r2"})
fail("0610", "start-of-no-announcement", log, f"0610 error {row['seq']}")
passes("0610", "retried", retried()[0])
passes("0610", "retried-in-version-4", retried(V4)[0])
passes("0610", "always", retried(mode="always", maxRetries=None)[0])

# 0611 bad-vocabulary
for name, dialect, kind in (("finished", Mid, "finished"), ("disposed-in-released-turn", Head, "disposed"), ("rejected-in-version-3", V3, "rejected"), ("forked-in-version-0", Head, "forked")):
    log = plain(dialect)
    row = log.find("turn/end")
    row["data"]["reason"] = {"kind": kind}
    fail("0611", name, log, f"0611 error {row['seq']}")
log = Mid()
log.begin()
log.message([text("Hello.")], usage := log.usage(), log.chunks(log.stream([text("Hello.")], usage, {"kind": ""})))
log.step_end()
log.turn_end()
fail("0611", "finish-without-kind", log, f"0611 error {log.find('assistant/chunk', -1)['seq']}")
log = plain(Mid)
log.find("user/message")["data"]["content"].append({"type": "hologram", "size": 3})
fail("0611", "unknown-block", log, "0611 note 1")
log = plain(Mid)
log.find("user/message")["data"]["content"].append({"type": "", "size": 3})
fail("0611", "block-without-type", log, "0611 error 1")
log = plain(Seed)
log.find("turn/end")["data"]["reason"] = {"kind": "disposed"}
passes("0611", "disposed-in-old-turn", log, "0310 note -")
log = plain(V4)
log.find("turn/end")["data"]["reason"] = {"kind": "forked"}
passes("0611", "forked-in-version-4", log)

# 0612 bad-event-data
def data(name, dialect, type, change, level="error", base=plain):
    log = base(dialect)
    row = log.find(type)
    change(row["data"])
    fail("0612", name, log, f"0612 {level} {row['seq']}")


data("no-id", Head, "user/message", lambda data: data.pop("id"))
data("other-role", Head, "user/message", lambda data: data.update(role="assistant"))
data("content-is-text", Head, "user/message", lambda data: data.update(content="Say hi."))
data("tool-ids-differ", Head, "tool/result", lambda data: data["message"]["source"].update(callId="c2"), base=tools)
data("call-unlike-its-block-in-version-3", V3, "tool/call", lambda data: data.update(arguments='{"text":"ho"}'), base=tools)
data("content-missing-in-old-turn", Mid, "user/message", lambda data: data.pop("content"))
data("plugin-source-in-version-4", V4, "user/message", lambda data: data.update(source={"kind": "plugin", "plugin": "notes"}))
data("tool-result-block-in-version-4", V4, "user/message", lambda data: data["content"].append({"type": "tool-result", "toolCallId": "c1", "content": []}))
log = plain(Head)
row = log.add("session/title", {"messageSeqs": [2], "source": {"kind": "fallback"}})
fail("0612", "title-without-title", log, f"0612 warning {row['seq']}")
log = plain(Head)
log.turn_start()
row = log.add("todo/write", {"todos": "none"})
log.turn_end()
fail("0612", "todos-is-text", log, f"0612 warning {row['seq']}")
log = plain(V4)
row = log.add("image/offload", {"targets": [{"seq": 0, "imageIndexes": [0]}]})
fail("0612", "offload-of-no-message", log, f"0612 error {row['seq']}")
log = plain(V4)
log.turn_start()
log.step_start()
log.user("Say hi again.")
row = log.developer({"type": "tool-addition", "toolName": "echo"})
log.answer(text("Hello."))
log.step_end()
log.turn_end()
fail("0612", "addition-without-header-seq", log, f"0612 error {row['seq']}")
passes("0612", "identified", tools(Head))
passes("0612", "not-identified-in-old-turn", tools(Mid))
passes("0612", "tool-role-in-version-4", tools(V4))
log = plain(Head)
log.add("session/title", {"title": "Hi", "messageSeqs": [2], "source": {"kind": "fallback"}})
passes("0612", "title", log)
