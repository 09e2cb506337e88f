"""Cases of family 05: the request header."""
from case import fail, passes
from dialects import Head, Mid, Seed, V2, V3, V4
from log import ECHO, text

PREFIX = [{"role": "user", "content": [text("The project is small.")]}]


def plain(dialect=Mid, **members):
    log = dialect()
    log.turn_of(**members)
    return log


def second_turn(reason, dialect=Mid, first=None, before=None, **members):
    """Two turns; the second one's header has `reason` and `members`, the first one's has `first`."""
    log = dialect()
    log.turn_of(**(first or {}))
    if before:
        before(log)
    log.turn_of(reason=reason, **members)
    return log


def warm(dialect=Mid):
    return {**dialect.config, "reasoningEffort": "high"}


# 0501 request-without-header
for name, dialect, seq in (("old", Mid, 3), ("released", Head, 3), ("version-3", V3, 4)):
    fail("0501", name, plain(dialect, reason=None), f"0501 error {seq}")
log = Head()
log.begin(reason=None)
log.step_end()
log.turn_end()
passes("0501", "step-without-response", log)
passes("0501", "inherited-header", second_turn(None))

# 0502 unknown-header-reason
fail("0502", "reload", plain(reason="reload"), "0502 error 3")
fail("0502", "series-in-old-turn", second_turn("series"), "0502 error 16")
passes("0502", "series", second_turn("series", Head))
passes("0502", "series-in-version-4", second_turn("series", V4))

# 0503 header-reason-wrong
fail("0503", "resume-first", plain(reason="resume"), "0503 error 3")
fail("0503", "change-first", plain(V2, reason="change"), "0503 error 3")
fail("0503", "initial-again", second_turn("initial", Head), "0503 error 16")
passes("0503", "resume-behind-initial", second_turn("resume"))

# 0504 change-without-change
fail("0504", "equal", second_turn("change"), "0504 error 16")
fail("0504", "empty-flags", second_turn("change", Head, adapterDefaults={}), "0504 error 16")
passes("0504", "reasoning-effort", second_turn("change", config=warm()))
passes("0504", "redacted", second_turn("change", first={"system": "{{system}}"}, system="{{system}}"), "0307 note 3")
log = plain(V3)
log.turn_start()
log.step_start()
head = log.find("system/message")["seq"]
log.user("Say hi again.")
log.system("You are a tester of tools.", (head, head), [head], id="v2-to-v3-system-" + "0" * 64)
log.request_header("change")
log.answer(text("Hello."))
log.step_end()
log.turn_end()
passes("0504", "migrated-prompt", log)

# 0505 header-not-canonical
fail("0505", "empty-system", plain(system=""), "0505 error 3")
fail("0505", "empty-tools", plain(Head, tools=[]), "0505 error 3")
fail("0505", "empty-prefix", plain(messagePrefix=[]), "0505 error 3")
fail("0505", "empty-tools-in-version-4", plain(V4, tools=[]), "0505 error 4")
fail("0505", "empty-defaults-in-version-3", plain(V3, adapterDefaults={}), "0505 error 4")
passes("0505", "absent", plain(Head))
passes("0505", "filled", plain(system="Be brief.", tools=[ECHO], messagePrefix=PREFIX))

# 0506 header-misplaced
def finish(log):
    log.answer(text("Hello."))
    log.step_end()
    log.turn_end()


log = Mid()
log.begin()
usage = log.usage()
chunks = log.stream([text("Hello.")], usage)
seqs = log.chunks(chunks[:2])
late = log.request_header("change", config=warm())
seqs += log.chunks(chunks[2:])
log.message([text("Hello.")], usage, seqs)
log.step_end()
log.turn_end()
fail("0506", "behind-first-chunk", log, f"0506 error {late['seq']}")
log = Head()
log.begin()
log.answer(text("Hello."))
log.step_end()
late = log.request_header("change", config=warm())
log.turn_end()
fail("0506", "behind-step", log, f"0506 error {late['seq']}")
log = plain(Head)
late = log.request_header("change", config=warm())
fail("0506", "behind-turn", log, f"0506 error {late['seq']}")
log = Head()
log.begin()
late = log.request_header("change", config=warm())
finish(log)
fail("0506", "twice", log, f"0506 error {late['seq']}")
log = V3()
log.begin()
log.answer(text("Hello."))
late = log.request_header("change", config=warm())
log.step_end()
log.turn_end()
fail("0506", "behind-answer-in-version-3", log, f"0506 error {late['seq']}")
log = Head()
log.begin()
log.failed_attempt()
log.retry()
log.retry_started()
log.request_header("change", config=warm())
finish(log)
passes("0506", "between-attempts", log)

# 0507 session-prefix-drift
OTHER = [{"role": "user", "content": [text("The project is large.")]}]
log = second_turn("change", first={"messagePrefix": PREFIX}, messagePrefix=OTHER)
fail("0507", "changed", log, "0507 error 16")
log = second_turn("change", first={"messagePrefix": PREFIX}, config=warm())
fail("0507", "dropped", log, "0507 error 16")
log = second_turn("resume", first={"messagePrefix": PREFIX}, messagePrefix=OTHER)
passes("0507", "other-instance", log)
passes("0507", "kept", second_turn("change", first={"messagePrefix": PREFIX}, messagePrefix=PREFIX, config=warm()))

# 0508 bad-header-shape
def shape(name, dialect, seq, **members):
    fail("0508", name, plain(dialect, **members), f"0508 error {seq}")


for name, dialect, config in (
    ("no-model", Seed, {"temperature": 1}),
    ("no-provider", Head, {"model": "acme-1"}),
    ("temperature-is-text", Head, {**Head.config, "temperature": "hot"}),
    ("stop-is-text", Head, {**Head.config, "stop": "END"}),
    ("max-tokens-is-text", Head, {**Head.config, "maxTokens": "900"}),
    ("effort-is-empty", Head, {**Head.config, "reasoningEffort": ""}),
):
    log = dialect()
    log.turn_of(config=config)
    notes = ["0310 note -"] if dialect is Seed else []
    fail("0508", name, log, *notes, "0508 error 3")
shape("system-is-list", Mid, 3, system=["Be brief."])
shape("system-is-null", Head, 3, system=None)
shape("tools-is-object", Head, 3, tools={"echo": ECHO})
shape("default-is-false", Head, 3, adapterDefaults={"maxTokens": False})
shape("default-without-member", Head, 3, adapterDefaults={"maxTokens": True})
shape("system-in-version-3", V3, 4, system="Be brief.")
passes("0508", "seed-without-provider", plain(Seed), "0310 note -")
passes("0508", "every-member", plain(Head, config={**Head.config, "reasoningEffort": "high", "temperature": 0.5, "maxTokens": 900, "stop": ["END"]}, adapterDefaults={"maxTokens": True}))

# 0509 response-route-differs
log = plain(Head)
log.find("assistant/message")["data"]["message"]["source"]["model"] = "acme-2"
fail("0509", "model", log, "0509 error 10")
log = plain(Mid)
log.find("assistant/message")["data"]["provenance"]["provider"] = "umbrella"
fail("0509", "provenance", log, "0509 error 10")
log = plain(V4)
log.find("assistant/message")["data"]["message"]["source"]["model"] = "acme-2"
fail("0509", "version-4", log, "0509 error 5")
passes("0509", "same", plain(V2))

# 0510 instance-not-anchored
fail("0510", "no-header", second_turn(None, Head, before=lambda log: log.end_seed()), "0510 error 17")
fail("0510", "version-3", second_turn(None, V3, before=lambda log: log.end_seed()), "0510 error 12")
passes("0510", "resume", second_turn("resume", Head, before=lambda log: log.end_seed()))
log = plain(Head)
log.end_seed()
passes("0510", "no-request-behind-load", log)
