"""Cases of family 07: requests and responses."""
import hashlib
import json

from case import fail, passes
from dialects import Head, Mid, V2, V3, V4
from log import call, text


def plain(dialect=Mid, *blocks):
    log = dialect()
    log.turn_of(*blocks)
    return log


def streamed(dialect, change, *blocks):
    """A turn whose stream is changed before it is written; the message stays as it was."""
    log = dialect()
    blocks = blocks or (text("Hello."),)
    log.begin()
    usage = log.usage()
    chunks = change(log.stream(blocks, usage))
    sources = log.chunks(chunks) if log.version == 0 else chunks
    row = log.message(blocks, usage, sources)
    log.step_end()
    log.turn_end()
    return log, row


def content(log):
    data = log.find("assistant/message")["data"]
    return data.get("message", data)["content"]


# 0701 response-differs-from-chunks
for name, dialect, level, seq in (("old", Mid, "warning", 10), ("released", Head, "error", 10), ("version-2", V2, "error", 4), ("version-4", V4, "error", 5)):
    log = plain(dialect)
    content(log)[0]["text"] = "Goodbye."
    fail("0701", name, log, f"0701 {level} {seq}")
log = plain(Head)
content(log).append(text("And more."))
fail("0701", "one-block-more", log, "0701 error 10")
log, _ = streamed(Head, lambda chunks: [c for c in chunks if c["type"] != "text-delta"])
passes("0701", "closed-block-counts", log)
log, _ = streamed(Head, lambda chunks: [c for c in chunks if c["type"] != "block-end"])
passes("0701", "deltas-count", log, "0705 warning 8")

# 0702 usage-differs
for name, dialect, seq in (("old", Mid, 10), ("released", Head, 10), ("version-3", V3, 5)):
    log = plain(dialect)
    log.find("assistant/message")["data"]["usage"]["outputTokens"] = 50
    fail("0702", name, log, f"0702 error {seq}")
log = plain(Head)
del log.find("assistant/message")["data"]["usage"]
fail("0702", "missing", log, "0702 error 10")
passes("0702", "same", plain(Head))

# 0703 sources-are-not-the-chunks
log = plain(Mid)
log.find("assistant/message")["sourceEventSeqs"].pop()
fail("0703", "one-missing", log, "0703 error 10")
log = plain(Head)
log.find("assistant/message")["sourceEventSeqs"].insert(0, 3)
fail("0703", "one-too-many", log, "0703 error 10")
log = Head()
log.begin()
failed = log.failed_attempt()
log.retry()
log.retry_started()
answer = log.answer(text("Hello."))
log.step_end()
log.turn_end()
passes("0703", "last-attempt-only", log)
answer["sourceEventSeqs"] = failed + answer["sourceEventSeqs"]
fail("0703", "of-both-attempts", log, f"0703 error {answer['seq']}")

# 0704 response-after-failure
FAILED = {"kind": "error", "failure": {"message": "HTTP 503", "code": "SERVER", "status": 503}}


def ended(kind):
    return lambda chunks: chunks[:-1] + [{"type": "finish", "reason": kind}]


for name, dialect, kind in (("error", Head, FAILED), ("aborted", Head, {"kind": "aborted", "failure": {"message": "stopped", "code": "ABORTED"}}), ("old", Mid, {"kind": "error", "message": "HTTP 503"}), ("version-3", V3, FAILED)):
    log, row = streamed(dialect, ended(kind))
    fail("0704", name, log, f"0704 error {row['seq']}")
log = V2()
log.begin()
row = log.failed_attempt({"kind": "stop"})
log.step_end()
log.turn_end()
fail("0704", "attempt-that-ended-well", log, f"0704 error {row['seq']}")
log, row = streamed(Head, ended({"kind": "aborted", "failure": {"message": "stopped", "code": "ABORTED"}}))
row["data"]["interrupted"] = True
passes("0704", "interrupted", log)

# 0705 bad-chunk-stream
def broken(name, change, nth, dialect=Head, *more):
    log, row = streamed(dialect, change)
    seq = log.find("assistant/chunk", nth)["seq"] if log.version == 0 else row["seq"]
    fail("0705", name, log, f"0705 warning {seq}", *more)


USAGE = {"type": "usage", "usage": {"inputTokens": 150, "outputTokens": 5, "cacheReadTokens": 0}}
broken("start-repeated", lambda chunks: chunks[:1] + chunks, 1)
broken("delta-without-block", lambda chunks: chunks[:4] + [{"type": "text-delta", "index": 0, "text": "!"}] + chunks[4:], 4)
broken("delta-of-other-kind", lambda chunks: chunks[:3] + [{"type": "reasoning-delta", "index": 0, "text": ""}] + chunks[3:], 3)
broken("usage-twice", lambda chunks: chunks[:-1] + [USAGE] + chunks[-1:], 5)
broken("index-negative", lambda chunks: chunks[:4] + [{"type": "text-delta", "index": -1, "text": "!"}] + chunks[4:], 4, Head, "0701 error 11")
broken("start-repeated-in-version-4", lambda chunks: chunks[:1] + chunks, 1, V4)
passes("0705", "two-blocks", plain(Head, text("Hello."), {"type": "reasoning", "text": "Greet."}))

# 0710 captured-request-differs
def captured(**changes):
    """The one request of a plain released log, as a capture file."""
    log = plain(Head)
    message = log.find("user/message")["data"]
    options = {**Head.config, "messages": [message], "sessionId": "s-1", **changes}
    printed = json.dumps(options, separators=(",", ":"))
    row = {"turn": 1, "step": 1, "attempt": 1, "sha256": hashlib.sha256(printed.encode()).hexdigest()}
    return (json.dumps(row, separators=(",", ":"))[:-1] + ',"options":' + printed + "}\n").encode()


AGAINST = "--against captured.jsonl"
fail("0710", "one-member-more", plain(Head), "0710 error 4", args=AGAINST, files={"captured.jsonl": captured(topP=1)})
fail("0710", "other-text", plain(Head), "0710 error 4", args=AGAINST, files={"captured.jsonl": captured(sessionId="s-2")})
fail("0710", "nothing-captured", plain(Head), "0710 error 4", args=AGAINST, files={"captured.jsonl": b"\n"})
fail("0710", "one-request-more", plain(Head), "0710 error -", args=AGAINST,
     files={"captured.jsonl": captured() + captured().replace(b'"turn":1', b'"turn":2')})
fail("0710", "another-session", plain(Head), "0710 error -", args=AGAINST,
     files={"captured.jsonl": b'{"sessionId":"s-2",' + captured()[1:]})
passes("0710", "same", plain(Head), args=AGAINST, files={"captured.jsonl": captured()})
passes("0710", "options-alone", plain(Head), args=AGAINST,
       files={"captured.jsonl": captured().split(b'"options":')[1][:-2] + b"\n"})
passes("0710", "digest-alone", plain(Head), args=AGAINST,
       files={"captured.jsonl": captured().split(b',"options":')[0] + b"}\n"})
passes("0710", "spaced", plain(Head), args=AGAINST,
       files={"captured.jsonl": captured().replace(b'":', b'" : ')})
passes("0710", "another-call", plain(Head), args=AGAINST,
       files={"captured.jsonl": b'{"purpose":"compaction",' + captured(topP=1)[1:] + captured()})


def body(words="Say hi.", **more):
    """The one request of a plain released log as the provider receives it."""
    whole = {"model": "acme-1", "messages": [{"role": "user", "content": words}], "stream": True, "stream_options": {"include_usage": True}, **more}
    return (json.dumps(whole, separators=(",", ":")) + "\n").encode()


passes("0710", "body", plain(Head), args=AGAINST, files={"captured.jsonl": body()})
passes("0710", "body-as-text", plain(Head), args=AGAINST,
       files={"captured.jsonl": (json.dumps({"url": "/chat/completions", "body": body().decode()}) + "\n").encode()})
passes("0710", "body-with-extension", plain(Head), args=AGAINST, files={"captured.jsonl": body(dsh_session_log=[1])})
fail("0710", "body-with-what-no-log-holds", plain(Head), "0710 note -", args=AGAINST,
     files={"captured.jsonl": body(thinking={"type": "enabled"})})
fail("0710", "body-with-other-text", plain(Head), "0710 error 4", args=AGAINST, files={"captured.jsonl": body("Say ho.")})
