//! Whole requests of tiny logs: one behaviour of a build each.

use crate::log::{Log, ReadOptions};
use crate::source::Source;

/// A log under construction: rows get their seq and time.
struct Rows {
    text: String,
    seq: u64,
}

impl Rows {
    fn new(header: &str) -> Rows {
        Rows {
            text: format!("{{\"type\":\"session\",\"id\":\"s\",\"createdAt\":1,{header}}}\n"),
            seq: 0,
        }
    }

    fn seed() -> Rows {
        Rows::new(r#""version":0"#)
    }

    fn released() -> Rows {
        Rows::new(r#""version":0,"delegationDepth":0"#)
    }

    fn later(version: u64) -> Rows {
        Rows::new(&format!(
            r#""version":{version},"isSeeded":false,"delegationDepth":0"#
        ))
    }

    fn row(mut self, kind: &str, data: &str, rest: &str) -> Rows {
        let seq = self.seq;
        self.text.push_str(&format!(
            r#"{{"type":"{kind}","seq":{seq},"time":5,"data":{data}{rest}}}"#
        ));
        self.text.push('\n');
        self.seq += 1;
        self
    }

    fn log(self, kind: &str, data: &str) -> Rows {
        self.row(kind, data, "")
    }

    fn append(self, kind: &str, data: &str) -> Rows {
        self.row(kind, data, r#","surfaceOp":"append""#)
    }

    fn old_turn(self) -> Rows {
        self.log(
            "turn/start",
            r#"{"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}"#,
        )
    }

    fn turn(self) -> Rows {
        self.log("turn/start", r#"{"turn":1}"#)
    }

    fn step(self, step: u64) -> Rows {
        self.log("step/start", &format!(r#"{{"turn":1,"step":{step}}}"#))
    }

    fn header(self, header: &str) -> Rows {
        self.log(
            "request/header",
            &format!(r#"{{"header":{header},"reason":"initial"}}"#),
        )
    }

    fn chunk(self, step: u64, chunk: &str) -> Rows {
        self.log(
            "assistant/chunk",
            &format!(r#"{{"turn":1,"step":{step},"chunk":{chunk}}}"#),
        )
    }

    fn finish(self, step: u64, kind: &str) -> Rows {
        self.chunk(
            step,
            &format!(r#"{{"type":"finish","reason":{{"kind":"{kind}"}}}}"#),
        )
    }

    fn end(self, step: u64) -> Rows {
        self.log("step/end", &format!(r#"{{"turn":1,"step":{step}}}"#))
    }

    /// Rows as `turn.step.attempt boundary flags options`.
    fn requests(self) -> Vec<String> {
        let source = Source::from_bytes(self.text.into_bytes());
        let log = Log::read(&source, &ReadOptions::default()).expect("bytes in memory can be read");
        let mut requests = log.requests().expect("nothing rejects this log");
        let mut rows = Vec::new();
        while let Some(request) = requests.next_request() {
            let mut options = Vec::new();
            request
                .write_options(&mut options)
                .expect("memory takes all");
            let derived = request.derived();
            let flags = match (derived.inherited, derived.unsent) {
                (true, _) => " inherited",
                (_, true) => " unsent",
                _ => "",
            };
            let (turn, step) = (request.turn().number, request.step().number);
            let options = String::from_utf8(options).expect("what is printed is UTF-8");
            rows.push(format!(
                "{turn}.{step}.{} {}{flags} {options}",
                derived.number, derived.boundary
            ));
        }
        rows
    }
}

const USER: &str = r#"{"content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}}"#;
const IDENTIFIED: &str = r#"{"content":[],"source":{"kind":"user"},"role":"user","id":"u"}"#;

#[test]
fn seed_requests_name_their_members_and_end_before_the_step() {
    let rows = Rows::seed()
        .old_turn()
        .append("user/message", USER)
        .step(1)
        .header(r#"{"config":{"temperature":0,"model":"m"},"system":"p","tools":[{"name":"t"}]}"#)
        .append("context/message", USER)
        .finish(1, "stop")
        .end(1)
        .requests();
    let message = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
    let options = format!(
        r#"{{"model":"m","messages":[{message}],"system":"p","tools":[{{"name":"t"}}],"temperature":0,"sessionId":"s"}}"#
    );
    assert_eq!(rows, [format!("1.1.1 2 {options}")]);
}

#[test]
fn injected_context_stands_between_tags_in_plain_requests() {
    let rows = Rows::seed()
        .old_turn()
        .append(
            "context/message",
            r#"{"content":[{"type":"text","text":"c"}],"source":{"kind":"plugin","plugin":"p"}}"#,
        )
        .append(
            "steering/message",
            r#"{"turn":1,"content":[],"source":{"kind":"user"}}"#,
        )
        .step(1)
        .header(r#"{"config":{"model":"m"}}"#)
        .end(1)
        .requests();
    let context = r#"{"role":"user","content":[{"type":"text","text":"<context source=\"plugin\">"},{"type":"text","text":"c"},{"type":"text","text":"</context>"}]}"#;
    let steering = r#"{"role":"user","content":[{"type":"text","text":"<steering source=\"user\">"},{"type":"text","text":"</steering>"}]}"#;
    assert_eq!(
        rows,
        [format!(
            r#"1.1.1 3 {{"model":"m","messages":[{context},{steering}],"sessionId":"s"}}"#
        )]
    );
}

#[test]
fn plain_requests_begin_with_the_session_prefix() {
    let rows = Rows::seed()
        .old_turn()
        .append("user/message", USER)
        .step(1)
        .header(r#"{"config":{"model":"m"},"messagePrefix":[{"role":"user","content":[]}]}"#)
        .end(1)
        .requests();
    assert_eq!(
        rows,
        [
            r#"1.1.1 2 {"model":"m","messages":[{"role":"user","content":[]},{"role":"user","content":[{"type":"text","text":"hi"}]}],"sessionId":"s"}"#
        ]
    );
}

#[test]
fn an_answer_with_provenance_is_repeated_with_it() {
    let rows = Rows::seed()
        .old_turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .append("assistant/message", r#"{"turn":1,"step":1,"content":[{"type":"text","text":"a"}],"provenance":{"provider":"p","model":"m"}}"#)
        .end(1)
        .step(2)
        .append("assistant/message", r#"{"turn":1,"step":2,"content":[],"provenance":{"provider":"p","model":"m"}}"#)
        .end(2)
        .requests();
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"a"}],"provenance":{"provider":"p","model":"m"}}"#;
    assert_eq!(
        rows[1],
        format!(r#"1.2.1 5 {{"provider":"p","model":"m","messages":[{answer}],"sessionId":"s"}}"#)
    );
}

#[test]
fn released_requests_upgrade_what_older_builds_wrote() {
    let rows = Rows::released()
        .append("user/message", USER)
        .append("tool/result", r#"{"turn":1,"step":1,"callId":"c","content":[],"isError":false}"#)
        .append("assistant/message", r#"{"turn":1,"step":1,"content":[{"type":"text","text":"a"}],"provenance":{"provider":"p","model":"m"}}"#)
        .append("steering/message", r#"{"turn":1,"content":[],"source":{"kind":"user"}}"#)
        .turn()
        .step(1)
        .append("user/message", IDENTIFIED)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "stop")
        .requests();
    let messages = [
        r#"{"content":[{"type":"text","text":"hi"}],"source":{"kind":"user"},"id":"legacy-message:s:0","role":"user"}"#,
        r#"{"id":"legacy-message:s:1","role":"user","content":[{"type":"tool-result","toolCallId":"c","content":[],"isError":false}],"source":{"kind":"tool","callId":"c"}}"#,
        r#"{"id":"legacy-message:s:2","role":"assistant","content":[{"type":"text","text":"a"}],"source":{"provider":"p","model":"m","kind":"model"}}"#,
        r#"{"content":[],"source":{"kind":"user"},"id":"legacy-message:s:3","role":"user"}"#,
        IDENTIFIED,
    ];
    let messages = messages.join(",");
    assert_eq!(
        rows,
        [format!(
            r#"1.1.1 8 {{"provider":"p","model":"m","messages":[{messages}],"sessionId":"s"}}"#
        )]
    );
}

#[test]
fn a_config_member_named_like_a_request_member_keeps_its_place_only() {
    let rows = Rows::released()
        .turn()
        .step(1)
        .header(
            r#"{"config":{"provider":"p","messages":7,"model":"m","sessionId":8},"system":"x"}"#,
        )
        .finish(1, "stop")
        .requests();
    assert_eq!(
        rows,
        [r#"1.1.1 3 {"provider":"p","messages":[],"model":"m","sessionId":"s","system":"x"}"#]
    );
}

#[test]
fn each_attempt_of_a_step_has_its_own_boundary() {
    let rows = Rows::released()
        .turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "error")
        .append("user/message", IDENTIFIED)
        .finish(1, "stop")
        .end(1)
        .requests();
    assert_eq!(
        rows,
        [
            r#"1.1.1 3 {"provider":"p","model":"m","messages":[],"sessionId":"s"}"#.to_owned(),
            format!(
                r#"1.1.2 5 {{"provider":"p","model":"m","messages":[{IDENTIFIED}],"sessionId":"s"}}"#
            ),
        ]
    );
}

#[test]
fn a_step_without_a_trace_may_not_have_been_sent() {
    let header = r#"{"config":{"provider":"p","model":"m"}}"#;
    let rows = Rows::released()
        .turn()
        .step(1)
        .header(header)
        .finish(1, "stop")
        .end(1)
        .step(2)
        .end(2)
        .requests();
    assert_eq!(
        rows[1],
        r#"1.2.1 6 unsent {"provider":"p","model":"m","messages":[],"sessionId":"s"}"#
    );
    let own = Rows::released()
        .turn()
        .step(1)
        .header(header)
        .end(1)
        .requests();
    assert!(
        own[0].starts_with("1.1.1 3 {"),
        "its own header shows that it was sent: {own:?}"
    );
    assert!(
        Rows::released().turn().step(1).end(1).requests().is_empty(),
        "no header, no request"
    );
}

#[test]
fn an_announced_retry_is_one_more_request() {
    let retry = r#"{"retryId":"r","turn":1,"step":1,"retry":1}"#;
    let rows = Rows::released()
        .turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "error")
        .log("llm/retry-started", retry)
        .end(1)
        .requests();
    assert_eq!(rows.len(), 2);
    assert!(rows[1].starts_with("1.1.2 5 {"), "{rows:?}");
}

#[test]
fn the_parent_sent_what_is_inherited() {
    let rows = Rows::new(r#""version":0,"parentSession":"p","seedLength":4,"delegationDepth":0"#)
        .turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "stop")
        .end(1)
        .step(2)
        .finish(2, "stop")
        .requests();
    assert!(
        rows[0].contains(" inherited ") && rows[0].ends_with(r#""sessionId":"p"}"#),
        "{rows:?}"
    );
    assert!(rows[1].ends_with(r#""sessionId":"s"}"#), "{rows:?}");
}

#[test]
fn a_replace_takes_the_place_of_a_range() {
    let named = |id: &str| {
        format!(r#"{{"content":[],"source":{{"kind":"user"}},"role":"user","id":"{id}"}}"#)
    };
    let rows = Rows::released()
        .append("user/message", &named("a"))
        .append("user/message", &named("b"))
        .append("user/message", &named("c"))
        .row(
            "user/message",
            &named("d"),
            r#","sourceEventSeqs":[0,1],"surfaceOp":{"op":"replace","start":0,"end":1}"#,
        )
        .turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "stop")
        .requests();
    let messages = format!("{},{}", named("d"), named("c"));
    assert_eq!(
        rows,
        [format!(
            r#"1.1.1 7 {{"provider":"p","model":"m","messages":[{messages}],"sessionId":"s"}}"#
        )]
    );
}

#[test]
fn nothing_is_rebuilt_behind_a_gap() {
    let mut rows = Rows::released()
        .turn()
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .finish(1, "stop")
        .end(1);
    rows.seq += 1;
    let rows = rows.step(2).finish(2, "stop").requests();
    assert_eq!(rows.len(), 1);
}

const SYSTEM: &str = r#"{"turn":1,"step":1,"message":{"role":"system","content":[{"type":"text","text":"p"}],"source":{"kind":"system-prompt"},"id":"y"}}"#;

#[test]
fn from_version_3_on_the_prompt_is_a_message() {
    let rows = Rows::later(3)
        .turn()
        .step(1)
        .append("system/message", SYSTEM)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .log("assistant/attempt", r#"{"turn":1,"step":1,"stream":[]}"#)
        .end(1)
        .requests();
    let system = r#"{"role":"system","content":[{"type":"text","text":"p"}],"source":{"kind":"system-prompt"},"id":"y"}"#;
    assert_eq!(
        rows,
        [format!(
            r#"1.1.1 4 {{"provider":"p","model":"m","messages":[{system}],"sessionId":"s"}}"#
        )]
    );
}

#[test]
fn an_empty_prompt_derives_to_no_message() {
    let empty = SYSTEM.replace(r#"[{"type":"text","text":"p"}]"#, "[]");
    let rows = Rows::later(4)
        .turn()
        .step(1)
        .append("system/message", &empty)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .log("assistant/attempt", r#"{"turn":1,"step":1,"stream":[]}"#)
        .requests();
    assert_eq!(
        rows,
        [
            r#"1.1.1 4 {"provider":"p","model":"m","messages":[],"toolHistory":{"tools":[],"updates":[]},"sessionId":"s"}"#
        ]
    );
}

#[test]
fn tools_added_later_stand_in_the_history_of_tools() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","description":"d","parameters":{{}}}}"#);
    let header = |tools: &str, reason: &str| {
        format!(
            r#"{{"header":{{"config":{{"provider":"p","model":"m"}},"tools":[{tools}]}},"reason":"{reason}"}}"#
        )
    };
    let both = format!("{},{}", tool("a"), tool("b"));
    let developer = r#"{"turn":1,"step":2,"message":{"source":{"kind":"tool-registry"},"content":[{"type":"tool-addition","toolName":"b"}],"role":"developer","id":"d"},"headerSeq":6}"#;
    let attempt = |step: u64| format!(r#"{{"turn":1,"step":{step},"stream":[]}}"#);
    let rows = Rows::later(4)
        .turn()
        .step(1)
        .append("system/message", SYSTEM)
        .log("request/header", &header(&tool("a"), "initial"))
        .log("assistant/attempt", &attempt(1))
        .end(1)
        .log("step/start", r#"{"turn":1,"step":2}"#)
        .log("request/header", &header(&both, "change"))
        .append(
            "developer/message",
            &developer.replace("\"headerSeq\":6", "\"headerSeq\":7"),
        )
        .log("assistant/attempt", &attempt(2))
        .requests();
    let history = format!(
        r#""toolHistory":{{"tools":[{}],"updates":[{{"messageId":"d","additions":[{}]}}]}},"tools":[{both}]"#,
        tool("a"),
        tool("b")
    );
    assert!(rows[1].contains(&history), "{rows:?}");
}

#[test]
fn images_left_out_are_marked_from_then_on() {
    let user = r#"{"content":[{"type":"image","attachment":{}},{"type":"text","text":"t"},{"type":"image","attachment":{}}],"source":{"kind":"user"},"role":"user","id":"u"}"#;
    let attempt = r#"{"turn":1,"step":1,"stream":[]}"#;
    let rows = Rows::later(4)
        .turn()
        .step(1)
        .append("system/message", SYSTEM)
        .append("user/message", user)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .log("assistant/attempt", attempt)
        .log(
            "image/offload",
            r#"{"targets":[{"seq":3,"imageIndexes":[1]}]}"#,
        )
        .log("assistant/attempt", attempt)
        .requests();
    assert!(!rows[0].contains("offloaded"), "{rows:?}");
    let marked = r#"{"type":"image","attachment":{}},{"type":"text","text":"t"},{"type":"image","attachment":{},"offloaded":true}"#;
    assert!(rows[1].contains(marked), "{rows:?}");
}

#[test]
fn the_build_that_answers_decides_how_history_is_derived() {
    // A fork of 2026-08-05 or later drops the trigger and writes upgraded messages: the parent's request had the older form.
    let rows = Rows::new(r#""version":0,"parentSession":"p","seedLength":9,"delegationDepth":0"#)
        .turn()
        .append("user/message", r#"{"content":[],"source":{"kind":"user"},"id":"legacy-message:p:1","role":"user"}"#)
        .step(1)
        .header(r#"{"config":{"provider":"p","model":"m"}}"#)
        .append("assistant/message", r#"{"turn":1,"step":1,"message":{"id":"legacy-message:p:4","role":"assistant","content":[],"source":{"provider":"p","model":"m","kind":"model"}}}"#)
        .end(1)
        .requests();
    assert_eq!(
        rows,
        [
            r#"1.1.1 2 inherited {"provider":"p","model":"m","messages":[{"role":"user","content":[]}],"sessionId":"p"}"#
        ]
    );
}
