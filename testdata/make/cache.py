"""Cases of family 08: the prefix cache. Usage is written by hand: a unit of 128 tokens, prompts that grow."""
from case import fail, passes
from dialects import Head, V4
from log import ECHO, text

OTHER = {**ECHO, "name": "other"}


def prompt(tokens, hit, output=5):
    """Usage of a request with a prompt of so many tokens, of which `hit` came from the cache."""
    return {"inputTokens": tokens - hit, "outputTokens": output, "cacheReadTokens": hit}


class Session:
    """Turns of one step each; each has the usage it is given."""

    def __init__(self, dialect=Head):
        self.log = dialect()
        self.headers = []

    def turn(self, usage, reason=None, **members):
        """Gives the seq of its header, or of the answer's first chunk where it logs none."""
        log = self.log
        log.begin("Say hi.", reason, **members)
        start = log.find("request/header", -1)["seq"] if reason else None
        blocks = [text("Hello.")]
        if isinstance(log, V4):
            log.usage = lambda: usage
            answer = log.answer(*blocks)
            seq = answer["seq"]
        else:
            sources = log.chunks(log.stream(blocks, usage))
            log.message(blocks, usage, sources)
            seq = sources[0]
        log.step_end()
        log.turn_end()
        return seq if start is None else start


# 0801 prefix-broken
session = Session()
session.turn(prompt(1000, 0), "initial", system="You help.")
seq = session.turn(prompt(1100, 0), "change", system="You help a lot.")
fail("0801", "system", session.log, f"0801 note {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO])
seq = session.turn(prompt(1100, 0), "change", tools=[ECHO, OTHER])
fail("0801", "tool-added", session.log, f"0801 note {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial")
seq = session.turn(prompt(1100, 0), "change", config={"provider": "acme", "model": "acme-2"})
session.log.find("assistant/message", -1)["data"]["message"]["source"]["model"] = "acme-2"
fail("0801", "model", session.log, f"0801 note {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial", system="You help.")
session.turn(prompt(1100, 896))
passes("0801", "kept", session.log)

session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO, OTHER])
seq = session.turn(prompt(1100, 0), "change", tools=[ECHO])
fail("0801", "tool-removed", session.log, f"0801 note {seq}")

# 0802 cache-lost
session = Session()
session.turn(prompt(1000, 0), "initial")
seq = session.turn(prompt(1100, 0))
fail("0802", "nothing-read", session.log, f"0802 warning {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial")
session.turn(prompt(1100, 896))
passes("0802", "within-the-window", session.log)
session = Session()
session.turn(prompt(100, 0), "initial")
session.turn(prompt(120, 0))
passes("0802", "below-the-unit", session.log)

# 0803 volatile-system-text
session = Session()
clock = lambda minute: f"You help. It is 12:{minute} o'clock. Be kind."
session.turn(prompt(1000, 0), "initial", system=clock(10))
seqs = [session.turn(prompt(1000 + 100 * n, 0), "change", system=clock(10 + n)) for n in (1, 2, 3)]
notes = [f"0801 note {seq}" for seq in seqs]
first = session.log.find("assistant/chunk", 6)["seq"]
fail("0803", "clock", session.log, notes[0], f"0803 warning {first}", *notes[1:])
session = Session()
session.turn(prompt(1000, 0), "initial", system=clock(10))
seqs = [session.turn(prompt(1000 + 100 * n, 0), "change", system=clock(10 + n)) for n in (1, 2)]
passes("0803", "twice", session.log, *(f"0801 note {seq}" for seq in seqs))

# 0804 tool-order-only
session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO, OTHER])
seq = session.turn(prompt(1100, 0), "change", tools=[OTHER, ECHO])
fail("0804", "swapped", session.log, f"0801 note {seq}", f"0804 warning {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO])
seq = session.turn(prompt(1100, 0), "change", tools=[OTHER, ECHO])
passes("0804", "added-in-front", session.log, f"0801 note {seq}")

# 0805 header-flap
session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO, OTHER])
one = session.turn(prompt(1100, 0), "change", tools=[ECHO])
two = session.turn(prompt(1200, 0), "change", tools=[ECHO, OTHER])
fail("0805", "tool-comes-back", session.log, f"0801 note {one}", f"0801 note {two}", f"0805 warning {two}")
session = Session()
session.turn(prompt(1000, 0), "initial", tools=[ECHO, OTHER])
one = session.turn(prompt(1100, 0), "change", tools=[ECHO])
two = session.turn(prompt(1200, 0), "change", tools=[OTHER])
passes("0805", "onwards", session.log, f"0801 note {one}", f"0801 note {two}")

# 0806 prefix-drift-on-resume
session = Session()
session.turn(prompt(1000, 0), "initial", system="You help.")
seq = session.turn(prompt(1100, 0), "resume", system="You helped.")
fail("0806", "system", session.log, f"0801 note {seq}", f"0806 warning {seq}")
session = Session()
session.turn(prompt(1000, 0), "initial", system="You help.")
session.turn(prompt(1100, 896), "resume", system="You help.")
passes("0806", "same-header", session.log)

# 0808 usage-not-reported
session = Session()
seq = session.turn({"inputTokens": 1000, "outputTokens": 5}, "initial")
first = session.log.find("assistant/chunk")["seq"]
fail("0808", "no-cache-tokens", session.log, f"0808 note {first}")
session = Session()
session.turn(prompt(1000, 0), "initial")
passes("0808", "nothing-read-is-reported", session.log)
