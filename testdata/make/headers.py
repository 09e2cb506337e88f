"""Writes testdata/headers/: logs whose request headers change, each for one thing that `diff-headers` says.

  python3 testdata/make/headers.py [--check]

What the tool says of them stands in tests/cmd/diff-headers.trycmd and tests/diff_headers.rs.
"""
import os
import sys

from dialects import Head, Seed, V3, V4
from log import line, text

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "headers")

PROMPT = """You are the release assistant of a small bakery's web shop.

# Rules

Prices are in cents and round half up.
Never deploy on a Friday.

# Environment

Working directory: /srv/shop
{clock}

# Style

Answer in one paragraph."""


def tool(name, description, **properties):
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}}


BASH = tool("bash", "Runs a command and returns its output.", command={"type": "string"}, timeout={"type": "integer"})
READ = tool("read", "Reads a file.", path={"type": "string"})
WEB = [tool("web_fetch", "Fetches a page.", url={"type": "string"}), tool("web_search", "Searches the web.", query={"type": "string"})]


def clock():
    """A prompt that says what time it is: every request has another one."""
    log = Head()
    for minute in range(6):
        system = PROMPT.format(clock=f"Now: 2026-08-21 09:{10 + 7 * minute}:03")
        log.turn_of(reason="change" if minute else "initial", system=system, tools=[BASH, READ])
    return log


def drift():
    """A session that is opened again: once as it was, once with another model, prompt and tool."""
    log = Head()
    system = PROMPT.format(clock="")
    log.turn_of(system=system, tools=[BASH, READ])
    log.end_seed()
    log.turn_of(reason="resume", system=system, tools=[BASH, READ])
    log.end_seed()
    log.config = {"provider": "acme", "model": "acme-2"}
    changed = tool("bash", "Runs a shell command and returns its output.", command={"type": "string", "description": "One line."}, timeout={"type": "number"})
    log.turn_of(reason="resume", system=system.replace("Never deploy on a Friday.\n", "Never deploy on a Friday or a Monday.\nAsk before you delete.\n"), tools=[READ, changed])
    log.turn_of(reason="change", system=system.replace("Never deploy on a Friday.\n", "Never deploy on a Friday or a Monday.\nAsk before you delete.\n"), tools=[changed, READ])
    return log


def tool_server():
    """A tool server whose tools come and go."""
    log = Head()
    for at, tools in enumerate([[BASH, READ, *WEB], [BASH, READ], [BASH, READ, *WEB], [BASH, READ]]):
        log.turn_of(reason="change" if at else "initial", system="You are a helper.", tools=tools)
    return log


def options():
    """Options of the call: a default that becomes a choice, and nothing that a prefix would notice."""
    log = Head()
    log.config = {"provider": "acme", "model": "acme-1", "maxTokens": 4096, "reasoningEffort": "high"}
    log.turn_of(adapterDefaults={"maxTokens": True, "reasoningEffort": True}, system="You are a helper.")
    log.config = {"provider": "acme", "model": "acme-1", "reasoningEffort": "max", "maxTokens": 4096}
    log.turn_of(reason="change", adapterDefaults={"maxTokens": True}, system="You are a helper.")
    log.turn_of(reason="change", adapterDefaults={"maxTokens": True}, system="You are a helper.")
    return log


def prefix():
    """Messages in front of the history, as builds before August 2026 sent them."""
    log = Seed()
    message = lambda words: {"role": "user", "content": [text(words)]}
    log.turn_of(system="You are a helper.", messagePrefix=[message("Skills: bake, sell."), message("Be kind.")])
    log.turn_of(reason="resume", system="You are a helper.", messagePrefix=[message("Skills: bake, sell, ship."), message("Be kind."), message("Be quick.")])
    return log


def head_and_update():
    """The prompt as a message: an update in the history, then a replaced head; tools by a developer message."""
    log = V4()
    log.begin(tools=[BASH])
    log.add("request/context", {**log.config, "contextWindow": 65536, "systemPromptUpdate": "in-history"})
    log.answer(text("Hello."))
    log.step_end()
    log.turn_end()
    log.turn_start()
    log.step_start()
    update = log.system("You are a tester. Use tabs.")
    log.user("Again.")
    header = log.request_header("change", tools=[BASH, READ])
    log.developer({"type": "tool-addition", "toolName": "read"}, header_seq=header["seq"])
    log.answer(text("Yes."))
    log.step_end()
    log.turn_end()
    head = next(row for row in log.rows if row["type"] == "system/message")["seq"]
    log.turn_start()
    log.step_start()
    log.system("", replace=(update["seq"], update["seq"]), sources=[update["seq"]])
    log.system("You are a writer.", replace=(head, head), sources=[head])
    log.user("And now?")
    log.config = {"provider": "acme", "model": "acme-2"}
    log.request_header("change", tools=[BASH, READ])["data"]["startsSeries"] = True
    log.add("request/context", {**log.config, "contextWindow": 65536})
    log.answer(text("Now too."))
    log.step_end()
    log.turn_end()
    return log


def redacted():
    """A committed fixture: placeholders in the place of prompt and tools."""
    log = Head()
    log.turn_of(system="{{system}}", tools=["bash", "read"])
    log.turn_of(reason="change", system="{{system}}", tools=["bash", "read", "write"])
    log.turn_of(reason="change", system="{{system}}", tools=["bash", "read", "write"])
    return log


def hostile():
    """Text that a terminal, a reader's eye or a page would act on."""
    log = Head()
    first = "a\tb \u202eright to left\u202c \x1b[31mred\x1b[0m <img src=x> ```\r\n漢字かな交じり文は幅が広い。\nhalf \ud83d of a pair\nzero\u200bwidth"
    second = first.replace("a\tb", "a b").replace("red", "blue").replace("広い", "狭い").replace("\ud83d", "\ud83e").replace("\u200b", "")
    log.turn_of(system=first, tools=[tool("ba\x1b[2Jsh", "`x` @team #1")])
    log.turn_of(reason="change", system=second, tools=[tool("ba\x1b[2Jsh", "`y` @team #1"), tool("|n\u202eew|", "<b>")])
    return log


LOGS = {
    "clock": clock,
    "drift": drift,
    "tool-server": tool_server,
    "options": options,
    "prefix": prefix,
    "head-and-update": head_and_update,
    "redacted": redacted,
    "hostile": hostile,
}


def bytes_of(log):
    rows = [log.header, *log.rows]
    return b"".join(line(row).replace(b"\x7f", b"\\u007f") + b"\n" for row in rows)


def halves(data):
    """JSON.stringify writes half of a pair as an escape, not as three bytes that are no UTF-8."""
    for unit in (0xD83D, 0xD83E):
        data = data.replace(chr(unit).encode("utf-8", "surrogatepass"), b"\\u%04x" % unit)
    return data


def main():
    wrong = []
    for name, make in LOGS.items():
        path = os.path.join(FOLDER, name + ".jsonl")
        data = halves(bytes_of(make()))
        if "--check" in sys.argv[1:]:
            with open(path, "rb") as file:
                if file.read() != data:
                    wrong.append(name)
            continue
        with open(path, "wb") as file:
            file.write(data)
    if wrong:
        sys.exit(f"not what the script writes: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
