"""The dialects that rules are tried in, oldest first: Seed, Mid, Head, V2, V3, V4."""
from log import Log, USER, text


class Seed(Log):
    """Version 0 as of 2026-07-13: no provider, no provenance, no `delegationDepth`."""

    created = 1783900000000
    config = {"model": "acme-1"}

    def marks(self):
        return {}

    def turn_start(self, turn=None):
        row = super().turn_start(turn)
        row["data"]["trigger"] = {"kind": "message", "source": USER}
        return row

    def input(self, words):
        """The user's message, then the step that reads it."""
        message = self.user(words)
        self.step_start()
        return message

    def user(self, words, source=None, replace=None, sources=None):
        data = {"content": [text(words)], "source": source or USER}
        return self.add("user/message", data, append=replace is None, replace=replace, sources=sources)

    def message(self, blocks, usage, sources, **more):
        data = {**self.place(), "content": list(blocks), **self.provenance()}
        if usage:
            data["usage"] = usage
        return self.add("assistant/message", data, append=True, sources=sources, **more)

    def provenance(self):
        return {}

    def result(self, id, words, error=None, **envelope):
        data = {**self.place(), "callId": id, "content": [text(words)], "isError": error is not None}
        if error:
            data["error"] = error
        return self.add("tool/result", data, **envelope)


class Mid(Seed):
    """Version 0 as of 2026-07-25: old turns with provider and provenance, `delegationDepth` in the header."""

    created = 1784980000000
    config = Log.config

    def marks(self):
        return {"delegationDepth": 0}

    def provenance(self):
        return {"provenance": dict(self.config)}


class Head(Log):
    """Version 0 as released in August 2026: identified messages, input inside the step."""

    created = 1787300000000

    def input(self, words):
        """The step, then the user's message in it."""
        self.step_start()
        return self.user(words)

    def user(self, words, source=None, replace=None, sources=None):
        data = {"content": [text(words)], "source": source or USER, "role": "user", "id": self.message_id()}
        return self.add("user/message", data, append=replace is None, replace=replace, sources=sources)

    def assistant(self, blocks):
        source = {"kind": "model", **{key: self.config[key] for key in ("provider", "model")}}
        return {"role": "assistant", "content": list(blocks), "source": source, "id": self.message_id()}

    def message(self, blocks, usage, sources, **more):
        data = {**self.place(), "message": self.assistant(blocks)}
        if usage:
            data["usage"] = usage
        return self.add("assistant/message", data, append=True, sources=sources, **more)

    def tool_message(self, id, words, failed):
        block = {"type": "tool-result", "toolCallId": id, "content": [text(words)], "isError": failed}
        return {"source": {"kind": "tool", "callId": id}, "content": [block], "role": "user", "id": self.message_id()}

    def result(self, id, words, error=None, **envelope):
        data = {**self.place(), "message": self.tool_message(id, words, error is not None)}
        if error:
            data["error"] = error
        return self.add("tool/result", data, **envelope)

    def remark(self, words="Nice."):
        """A log-only event that may stand anywhere."""
        return self.add("feedback/record", {"text": words})

    def end_seed(self, **data):
        return self.add("session/end-seed", data)

    def compaction(self, first, last, shadowed, id="k1"):
        """A whole compaction of the surface from `first` to `last`. Gives its four rows."""
        start = self.add("compaction/start", {"compactionId": id, "turn": self.turn})
        priced = {"shadowedRange": {"start": first, "end": last}, "shadowedSeqs": shadowed, "shadowedTokenCount": 90}
        summary = self.add("compaction/summary", {"compactionId": id, "summary": [text("They said hi.")], **priced, **self.config})
        sources = [start["seq"], summary["seq"], *shadowed]
        checkpoint = self.user("They said hi.", self.checkpoint_source(id), (first, last), sources)
        end = self.add("compaction/end", {"compactionId": id, "turn": self.turn})
        return start, summary, checkpoint, end

    def checkpoint_source(self, id):
        return {"kind": "plugin", "plugin": "compact", "compactionId": id}

    def retry(self, number=1, **changes):
        failure = {"message": "HTTP 503", "code": "SERVER", "status": 503}
        data = {"retryId": "r1", **self.place(), "provider": "acme", "mode": "normal", "policyKey": "normal-2", "retry": number, "maxRetries": 2, "delayMs": 10, "failure": failure}
        data.update(changes)
        return self.add("llm/retry", {key: value for key, value in data.items() if value is not None})

    def retry_started(self, number=1, **changes):
        return self.add("llm/retry-started", {"retryId": "r1", **self.place(), "retry": number, **changes})

    def failed_attempt(self):
        """The chunks of an attempt that the provider refused."""
        failure = {"message": "HTTP 503", "code": "SERVER", "status": 503}
        return self.chunks(self.stream([], finish={"kind": "error", "failure": failure}))


class V2(Head):
    """Version 2: the stream stands in the response's event."""

    version = 2
    created = 1788700000000

    def marks(self):
        return {"isSeeded": False, "delegationDepth": 0}

    def answer(self, *blocks):
        usage = self.usage()
        return self.message(blocks, usage, self.stream(blocks, usage))

    def records(self, chunks):
        """A stream as the event holds it, without packing."""
        return [{"type": "chunk", "time": self.created + self.seq, "chunk": chunk} for chunk in chunks]

    def message(self, blocks, usage, stream, **more):
        data = {**self.place(), "message": self.assistant(blocks)}
        if usage:
            data["usage"] = usage
        data["stream"] = self.records(stream)
        return self.add("assistant/message", data, append=True, **more)

    def failed_attempt(self, finish=None):
        failure = {"message": "HTTP 503", "code": "SERVER", "status": 503}
        stream = self.stream([], finish=finish or {"kind": "error", "failure": failure})
        return self.add("assistant/attempt", {**self.place(), "stream": self.records(stream)})


class V3(V2):
    """Version 3: the system prompt is the first message of the surface."""

    version = 3
    created = 1788950000000
    prompt_source = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}

    def input(self, words):
        self.step_start()
        if self.turn == 1:
            self.system("You are a tester.")
        return self.user(words)

    def system(self, words, replace=None, sources=None, id=None):
        content = [text(words)] if words else []
        message = {"role": "system", "content": content, "source": self.prompt_source, "id": id or self.message_id()}
        return self.add("system/message", {**self.place(), "message": message}, append=replace is None, replace=replace, sources=sources)

    def replace_op(self, start, end):
        return {"op": "replace", "startSeq": start, "endSeq": end}


class V4(V3):
    """Version 4: tool role, developer messages, sources that name their producer."""

    version = 4
    created = 1790900000000
    prompt_source = {"kind": "system-prompt"}

    def tool_message(self, id, words, failed):
        source = {"kind": "tool", "callId": id}
        return {"role": "tool", "source": source, "toolCallId": id, "content": [text(words)], "isError": failed, "id": self.message_id()}

    def checkpoint_source(self, id):
        return {"kind": "compact-checkpoint", "compactionId": id}

    def developer(self, *blocks, header_seq=None):
        message = {"source": {"kind": "tool-registry"}, "content": list(blocks), "role": "developer", "id": self.message_id()}
        data = {**self.place(), "message": message}
        if header_seq is not None:
            data["headerSeq"] = header_seq
        return self.add("developer/message", data, append=True)
