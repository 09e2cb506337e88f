"""Cases of family 01: bytes and lines."""
from case import fail, passes
from dialects import Head, Mid
from log import Log, line, text
from zstd import frame


def plain(dialect=Mid):
    log = dialect()
    log.turn_of()
    return log


def header_line(log):
    return line(log.header) + b"\n"


def body(log):
    return log.bytes()[len(header_line(log)):]


def compressed(log, **more):
    """The log as the harness compresses it: the header's frame, and one frame for all events."""
    return frame(header_line(log), **more) + frame(body(log), **more)


def with_remarks():
    """A log, and two events that may follow it between turns, so that losing them leaves no turn open."""
    log = plain(Head)
    whole = compressed(log)
    return log, whole, [line(log.remark()) for _ in range(2)]


# 0101 empty-log
fail("0101", "no-bytes", b"", "0101 error -")
fail("0101", "no-newline", line(Mid().header)[:40], "0101 error -")
fail("0101", "no-bytes-compressed", b"", "0101 error -", compressed=True)
passes("0101", "header-only", Mid())

# 0102 not-a-session-log
fail("0102", "words", b"Session started.\n", "0102 error -")
fail("0102", "other-type", b'{"type":"message","version":0,"id":"s-1","createdAt":1}\n', "0102 error -")
fail("0102", "other-agent", b'{"type":"session","version":3,"id":"s-1","timestamp":"2026-08-02T10:11:12.000Z","cwd":"/repo"}\n{"type":"message","id":"a","parentId":null}\n', "0102 error -")
passes("0102", "plain", plain())

# 0103 torn-tail
log = plain()
fail("0103", "cut-record", log.bytes() + b'{"type":"turn/start","seq":12,"ti', "0103 warning -")
fail("0103", "complete-record", log.bytes() + line(Mid().add("turn/start", {"turn": 2})), "0103 warning -")
log = plain()
log.turn_start()
fail("0103", "in-open-turn", log.bytes() + b'{"type":"user/mess', "0607 note 13", "0103 warning -")
passes("0103", "final-newline", plain())

# 0104 zero-filled-tail
fail("0104", "nul-bytes", plain().bytes() + bytes(64), "0104 warning -")
log = Mid()
log.turn_of(text("A NUL: \0"))
passes("0104", "escaped-nul", log)

# 0105 torn-frame
log, whole, remarks = with_remarks()
torn = frame(b"".join(remark + b"\n" for remark in remarks))
fail("0105", "cut-in-second-line", whole + torn[:-60], "0105 warning -", compressed=True)
fail("0105", "three-bytes", whole + b"\x28\xb5\x2f", "0105 warning -", compressed=True)
fail("0105", "bare-magic", whole + b"\x28\xb5\x2f\xfd", "0105 warning -", compressed=True)
passes("0105", "whole-frames", whole + torn, compressed=True)

# 0106 corrupt-frame
bad = bytearray(torn)
bad[-1] ^= 1
fail("0106", "checksum", whole + bytes(bad), "0106 error -", compressed=True)
fail("0106", "raw-line-appended", whole + remarks[0] + b"\n", "0106 error -", compressed=True)
fail("0106", "skippable-frame", whole + b"\x50\x2a\x4d\x18\x04\x00\x00\x00note", "0106 error -", compressed=True)
passes("0106", "no-checksum", compressed(log, checksum=False), compressed=True)
passes("0106", "empty-frame", whole + frame(b""), compressed=True)

# 0107 header-frame-not-alone
fail("0107", "one-frame", frame(log.bytes()), "0107 error -", compressed=True)
fail("0107", "header-cut", frame(line(log.header)) + frame(b"\n" + body(log)), "0107 error -", compressed=True)
passes("0107", "header-alone", whole, compressed=True)

# 0108 last-frame-cuts-line
fail("0108", "valid-record", whole + frame(remarks[0]), "0108 error -", compressed=True)
fail("0108", "cut-record", whole + frame(remarks[0][:30]), "0108 error -", compressed=True)
passes("0108", "line-spans-frames", whole + frame(remarks[0]) + frame(b"\n"), compressed=True)

# 0109 limit-reached
log = plain(Head)
log.remark("long " * 200)
fail("0109", "line", log, "0109 error -", args="--max-line 900")
passes("0109", "line-within", log, args="--max-line 2000")
fail("0109", "decoded-size", compressed(log), "0109 error -", args="--max-decompressed 3000", compressed=True)
passes("0109", "decoded-size-within", compressed(log), args="--max-decompressed 9000", compressed=True)

# 0110 blank-line
log = plain()
log.rows.insert(-1, b"")
fail("0110", "before-turn-end", log, "0110 error -")
fail("0110", "at-end", plain().bytes() + b"\n", "0110 warning -")
passes("0110", "none", plain())

# 0111 byte-order-mark
fail("0111", "at-start", b"\xef\xbb\xbf" + plain().bytes(), "0111 error -")
log = Mid()
log.turn_of(text("\ufeffHello."))
passes("0111", "inside-text", log)
