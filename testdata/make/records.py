"""Cases of family 02: records."""
from case import fail, passes
from dialects import Head, Mid, Seed, V3
from log import line, text


def plain(dialect=Mid, *blocks):
    log = dialect()
    log.turn_of(*blocks)
    return log


def changed(dialect, type, old, new, *blocks):
    """A plain log with a piece of one row's text exchanged."""
    log = plain(dialect, *blocks)
    log.rewrite(log.find(type), old, new)
    return log


def inserted(row):
    """A plain log with a foreign line before its `step/end`, and no number missing."""
    log = plain()
    log.rows.insert(-2, row)
    return log


# 0201 not-json
fail("0201", "words", inserted(b"disk almost full"), "0201 error -")
fail("0201", "trailing-comma", inserted(b'{"type":"acme/note","seq":11,"time":1,"data":{},}'), "0201 error -")
log = plain(Head)
log.remark()
log.rows[-1] = line(log.rows[-1])[:44] + line(log.rows[-1])
fail("0201", "joined-records", log, "0201 error -")
passes("0201", "escapes", plain(Mid, text('A quote ", a backslash \\, a line\nfeed.')))

# 0202 not-an-object
fail("0202", "null", inserted(b"null"), "0202 error -")
fail("0202", "array", inserted(b"[]"), "0202 error -")
fail("0202", "number", inserted(b"11"), "0202 error -")
passes("0202", "objects", plain())

# 0203 not-utf-8
log = Head()
log.turn_of()
log.remark("caf?")
log.rewrite(log.rows[-1], b"caf?", b"caf\xe9")
fail("0203", "latin-1", log, "0203 warning 13")
passes("0203", "every-length", plain(Mid, text("A é € 😀")))

# 0204 bad-envelope
fail("0204", "extra-member", changed(Mid, "step/end", '"step":1}}', '"step":1},"host":"ci-7"}'), "0204 error 11")
log = plain(Head)
log.remark()
log.rewrite(log.rows[-1], '"seq":13', '"seq":"13"')
fail("0204", "seq-is-text", log, "0204 error -")
fail("0204", "data-missing", changed(Head, "step/end", ',"data":{"turn":1,"step":1}', ""), "0204 error 11")
fail("0204", "ignorable-false", changed(Head, "step/end", '"step":1}}', '"step":1},"ignorable":false}'), "0204 error 11")
fail("0204", "ignorable-in-seed", changed(Seed, "step/end", '"step":1}}', '"step":1},"ignorable":true}'), "0310 note -", "0204 error 11")
fail("0204", "data-is-null-v3", changed(V3, "step/end", '{"turn":1,"step":1}', "null"), "0204 error 6")
log = plain(Head)
log.add("acme/note", {}, ignorable=True)
passes("0204", "ignorable", log)
log = plain(Head)
for row in log.rows:
    del row["seq"], row["time"]
del log.header["version"]
passes("0204", "fixture-without-numbers", log)

# 0205 duplicate-key
log = plain(Head)
log.remark()
log.rewrite(log.rows[-1], '"text":"Nice."', '"text":"Nice.","text":"Bad."')
fail("0205", "in-data", log, "0205 warning 13")
log = plain(Head)
log.remark("one")
log.rows[-1]["data"] = {"text": "one", "more": {"text": "two"}}
passes("0205", "same-key-deeper", log)

# 0206 unsafe-number
log = plain(Head)
log.remark()
log.rewrite(log.rows[-1], '"seq":13', '"seq":13.5')
fail("0206", "fractional-seq", log, "0206 error -")
log = plain(Head)
log.remark()
log.rewrite(log.rows[-1], f'"time":{Head.created + 13}', '"time":9007199254740992')
fail("0206", "time-beyond-safe", log, "0206 error 13")


def with_temperature(dialect, number):
    log = dialect()
    log.turn_of(config={**dialect.config, "temperature": 7})
    log.rewrite(log.find("request/header"), '"temperature":7', f'"temperature":{number}')
    return log


fail("0206", "beyond-double", with_temperature(Seed, "1e400"), "0310 note -", "0209 note 3", "0206 error 3")
fail("0206", "beyond-double-released", with_temperature(Head, "1e400"), "0209 note 3", "0206 warning 3")
passes("0206", "largest", with_temperature(Head, "1.7976931348623157e+308"))

# 0207 malformed-chunk-row
ROW = {"type": "text-chunks", "seq0": 5, "time0": Head.created, "data": {"turn": 1, "step": 1, "index": 0, "dt": [0, 1], "texts": ["Hel", "lo", "."]}}


def packed(**changes):
    """A released turn whose deltas stand in one packed row."""
    log = Head()
    log.begin()
    usage = log.usage()
    blocks = [text("Hello.")]
    chunks = [c for c in log.stream(blocks, usage) if c["type"] != "text-delta"]
    sources = log.chunks(chunks[:1])
    row = {**ROW, "data": {**ROW["data"], **changes}}
    log.rows.append(row)
    sources += [log.seq, log.seq + 1, log.seq + 2]
    log.seq += 3
    sources += log.chunks(chunks[1:])
    log.message(blocks, usage, sources)
    log.step_end()
    log.turn_end()
    return log


fail("0207", "dt-too-short", packed(dt=[0]), "0207 error 5")
fail("0207", "dt-fraction", packed(dt=[0, 0.5]), "0207 error 5")
fail("0207", "no-texts", packed(dt=[], texts=[]), "0207 error 5")
fail("0207", "extra-member", packed(note=1), "0207 error 5")
passes("0207", "packed", packed())
passes("0207", "time-runs-back", packed(dt=[5, -3]))

# 0208 lone-surrogate
log = Head()
log.tool_turn()
seq = log.rewrite(log.find("tool/result"), '"text":"hi"', '"text":"hi \\ud83d"')
fail("0208", "tool-result", log, f"0208 warning {seq}")
log = plain(Head)
log.remark("cut")
log.rewrite(log.rows[-1], '"cut"', '"cut \\ud83d"')
fail("0208", "log-only", log, "0208 note 13")
passes("0208", "pairs", plain(Mid, text("😀😀")))

# 0209 not-canonical
fail("0209", "spaces", changed(Mid, "step/end", '{"turn":1,"step":1}', '{ "turn": 1, "step": 1 }'), "0209 note 11")
fail("0209", "escaped-letter", changed(Mid, "user/message", "Say hi.", "Say \\u0068i."), "0209 note 1")
fail("0209", "carriage-return", changed(Mid, "step/end", '"step":1}}', '"step":1}}\r'), "0209 note 11")
fail("0209", "exponent", changed(Mid, "step/end", '"seq":11', '"seq":1.1e1'), "0209 note 11")
passes("0209", "canonical", plain(Mid, text("\u2028\u007f\u0001 é")))
