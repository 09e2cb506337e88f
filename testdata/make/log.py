"""Writes small session logs event by event, in the shapes of five dialects.

A log is a list of rows: a dict is printed as the harness prints it, bytes stand as they are. Each method
appends one event and returns its row, so that a case can damage it afterwards. Numbers are given when a
row is appended: a row taken out leaves a gap.
"""
import json

USER = {"kind": "user"}
ECHO = {"name": "echo", "description": "Says it again.", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}


def line(row):
    """A row's bytes, without its newline."""
    return row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def text(words):
    return {"type": "text", "text": words}


def call(id, name="echo", arguments='{"text":"hi"}'):
    return {"type": "tool-call", "id": id, "name": name, "arguments": arguments}


class Log:
    """What all dialects share: numbering, and the events whose shape never changed."""

    version = 0
    created = 0
    config = {"provider": "acme", "model": "acme-1"}

    def __init__(self, **header):
        self.header = {"type": "session", "version": self.version, "id": "s-1", "createdAt": self.created, "cwd": "/repo", **self.marks(), **header}
        self.rows = []
        self.seq = 0
        self.turn = self.step = self.requests = 0

    def marks(self):
        """The members that a header of this dialect has beside the common ones."""
        return {"delegationDepth": 0}

    def add(self, type, data, append=False, replace=None, sources=None, **more):
        """Appends an event; `replace` is the pair of surface events between which it stands."""
        row = {"type": type, "seq": self.seq, "time": self.created + self.seq, "data": json.loads(json.dumps(data))}
        if sources is not None:
            row["sourceEventSeqs"] = sources
        if append:
            row["surfaceOp"] = "append"
        if replace is not None:
            row["surfaceOp"] = self.replace_op(*replace)
        row.update(more)
        self.rows.append(row)
        self.seq += 1
        return row

    def replace_op(self, start, end):
        return {"op": "replace", "start": start, "end": end}

    def message_id(self):
        return f"id-{self.seq}"

    def place(self):
        return {"turn": self.turn, "step": self.step}

    # --- turns and steps

    def turn_start(self, turn=None):
        self.turn = self.turn + 1 if turn is None else turn
        self.step = 0
        return self.add("turn/start", {"turn": self.turn})

    def turn_end(self, kind="completed", **reason):
        return self.add("turn/end", {"turn": self.turn, "reason": {"kind": kind, **reason}})

    def step_start(self, step=None):
        self.step = self.step + 1 if step is None else step
        return self.add("step/start", self.place())

    def step_end(self):
        return self.add("step/end", self.place())

    # --- requests and responses

    def request_header(self, reason="initial", config=None, **members):
        header = {"config": dict(config or self.config), **members}
        return self.add("request/header", {"header": header, "reason": reason})

    def usage(self):
        """Usage that fits an intact prefix: every request after the first reads one unit from the cache."""
        self.requests += 1
        first = self.requests == 1
        return {"inputTokens": 150 if first else 40, "outputTokens": 5, "cacheReadTokens": 0 if first else 128}

    def stream(self, blocks, usage=None, finish=None):
        """The chunks of a response."""
        chunks = []
        for index, block in enumerate(blocks):
            chunks.append({"type": "block-start", "index": index, "blockType": block["type"]})
            if block["type"] == "tool-call":
                chunks.append({"type": "tool-call-delta", "index": index, "id": block["id"], "name": block["name"], "argumentsDelta": block["arguments"]})
            else:
                for half in halves(block["text"]):
                    chunks.append({"type": block["type"] + "-delta", "index": index, "text": half})
            chunks.append({"type": "block-end", "index": index, "block": block})
        if usage:
            chunks.append({"type": "usage", "usage": usage})
        calls = any(block["type"] == "tool-call" for block in blocks)
        chunks.append({"type": "finish", "reason": finish or {"kind": "tool-calls" if calls else "stop"}})
        return chunks

    def chunk(self, chunk):
        return self.add("assistant/chunk", {**self.place(), "chunk": chunk})

    def chunks(self, chunks):
        """Appends the chunks one row each, and gives their seqs."""
        return [self.chunk(chunk)["seq"] for chunk in chunks]

    def answer(self, *blocks):
        """A whole response: its chunks and its message. Gives the message's row."""
        usage = self.usage()
        return self.message(blocks, usage, self.chunks(self.stream(blocks, usage)))

    def tool_call(self, id, name="echo", arguments='{"text":"hi"}'):
        return self.add("tool/call", {**self.place(), "callId": id, "name": name, "arguments": arguments})

    # --- whole pieces

    def begin(self, words="Say hi.", reason="initial", **members):
        """A turn up to the point where its first response begins; `reason` None writes no header."""
        self.turn_start()
        self.input(words)
        if reason:
            self.request_header(reason, **members)

    def turn_of(self, *blocks, words="Say hi.", reason="initial", **members):
        """A turn of one step without tools. Gives the answer's row."""
        self.begin(words, reason, **members)
        answer = self.answer(*(blocks or [text("Hello.")]))
        self.step_end()
        self.turn_end()
        return answer

    def tool_step(self, id="c1", words="hi"):
        """The response of an open step that calls a tool, with the tool's result. Gives the result's row."""
        self.answer(text("One moment."), call(id))
        called = self.tool_call(id)
        result = self.result(id, words, sources=[called["seq"]], append=True)
        self.step_end()
        return result

    def tool_turn(self, reason="initial", **members):
        """A turn of two steps, the first of which calls a tool. Gives the result's row."""
        self.begin("Echo hi.", reason, **members)
        result = self.tool_step()
        self.step_start()
        self.answer(text("Done."))
        self.step_end()
        self.turn_end()
        return result

    # --- the file

    def find(self, type, nth=0):
        """The nth row of a type; -1 is the last."""
        return [row for row in self.rows if isinstance(row, dict) and row["type"] == type][nth]

    def drop(self, row):
        self.rows.remove(row)

    def rewrite(self, row, old, new):
        """Replaces a piece of a row's printed text, which must occur once. Gives the row's seq."""
        at = self.rows.index(row)
        printed = line(row)
        old, new = (part if isinstance(part, bytes) else part.encode() for part in (old, new))
        assert printed.count(old) == 1, (old, printed)
        self.rows[at] = printed.replace(old, new)
        return row["seq"]

    def lines(self):
        return [line(self.header)] + [line(row) for row in self.rows]

    def bytes(self):
        return b"".join(row + b"\n" for row in self.lines())


def halves(words):
    """A text in two deltas, or in one if it is too short to be cut."""
    middle = len(words) // 2
    return [words[:middle], words[middle:]] if middle else [words]
