//! Logs, small ones, from the bytes to the timeline.
//!
//! **Takes** nothing. **Gives** tests. **Never** needs a file.

use super::{HeaderState, Limits, states, timeline};
use crate::analyse::answer::{
    HeaderRow, Part, PatternKind, Reason, SegmentName, SystemMove, Timeline, Varying, Verdict,
};
use crate::line::Seq;
use crate::log::{Log, ReadOptions};
use crate::source::Source;

/// Writes a log, event by event.
struct Writer {
    lines: Vec<String>,
    version: u32,
    turn: u64,
}

impl Writer {
    fn new(version: u32) -> Writer {
        let seeded = if version < 2 {
            ""
        } else {
            "\"isSeeded\":false,"
        };
        let head = format!(
            r#"{{"type":"session","version":{version},"id":"s","createdAt":1,"cwd":"/w",{seeded}"delegationDepth":0}}"#
        );
        Writer {
            lines: vec![head],
            version,
            turn: 0,
        }
    }

    fn event(&mut self, kind: &str, data: &str, rest: &str) -> u64 {
        let seq = self.lines.len() as u64 - 1;
        let time = 1_787_000_000_000 + seq * 1000;
        self.lines.push(format!(
            r#"{{"type":"{kind}","seq":{seq},"time":{time},"data":{data}{rest}}}"#
        ));
        seq
    }

    /// A step of its own turn: what `inside` writes stands before its answer.
    fn step(&mut self, inside: impl FnOnce(&mut Writer, u64)) {
        self.turn += 1;
        let turn = self.turn;
        self.event("turn/start", &format!(r#"{{"turn":{turn}}}"#), "");
        let step = format!(r#"{{"turn":{turn},"step":1}}"#);
        self.event("step/start", &step, "");
        inside(self, turn);
        let stream = if self.version < 2 {
            ""
        } else {
            ",\"stream\":[]"
        };
        let sources = if self.version < 2 {
            ",\"sourceEventSeqs\":[]"
        } else {
            ""
        };
        let answer = format!(
            r#"{{"turn":{turn},"step":1,"message":{{"role":"assistant","content":[{{"type":"text","text":"ok"}}],"source":{{"kind":"model","provider":"p","model":"m"}},"id":"a{turn}"}}{stream}}}"#
        );
        self.event(
            "assistant/message",
            &answer,
            &format!("{sources},\"surfaceOp\":\"append\""),
        );
        self.event("step/end", &step, "");
        self.event(
            "turn/end",
            &format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#),
            "",
        );
    }

    fn header(&mut self, reason: &str, header: &str) -> u64 {
        let data = format!(r#"{{"reason":"{reason}","header":{header}}}"#);
        self.event("request/header", &data, "")
    }

    fn system(&mut self, turn: u64, text: &str, op: &str) -> u64 {
        let content = match text {
            "" => String::new(),
            text => format!(r#"{{"type":"text","text":"{text}"}}"#),
        };
        let data = format!(
            r#"{{"turn":{turn},"step":1,"message":{{"role":"system","content":[{content}],"source":{{"kind":"system-prompt"}},"id":"s{}"}}}}"#,
            self.lines.len()
        );
        self.event("system/message", &data, &format!(",{op}"))
    }

    fn bytes(&self) -> Vec<u8> {
        (self.lines.join("\n") + "\n").into_bytes()
    }
}

const APPEND: &str = r#""surfaceOp":"append""#;

fn replacing(seq: u64) -> String {
    format!(
        r#""sourceEventSeqs":[{seq}],"surfaceOp":{{"op":"replace","startSeq":{seq},"endSeq":{seq}}}"#
    )
}

fn read<T>(bytes: Vec<u8>, ask: impl FnOnce(&Log<'_>) -> T) -> T {
    let source = Source::from_bytes(bytes);
    let log = Log::read(&source, &ReadOptions::default()).expect("memory is readable");
    ask(&log)
}

fn timeline_of(writer: &Writer) -> Timeline {
    read(writer.bytes(), |log| {
        let (requests, prompts) = (
            log.requests().expect("readable"),
            log.prompts().expect("readable"),
        );
        timeline(&log.session, requests, prompts, &Limits::default())
    })
}

/// A log of version 0: one header for each step.
fn headers(headers: &[(&str, &str)]) -> Timeline {
    let mut writer = Writer::new(0);
    for (reason, header) in headers {
        writer.step(|writer, _| {
            writer.header(reason, header);
        });
    }
    timeline_of(&writer)
}

/// The same with nothing but a prompt in each header.
fn prompts(texts: &[&str]) -> Timeline {
    let reasons = std::iter::once("initial").chain(std::iter::repeat("change"));
    let headers_of: Vec<(&str, String)> = reasons
        .zip(texts)
        .map(|(reason, text)| (reason, system(text)))
        .collect();
    let borrowed: Vec<(&str, &str)> = headers_of
        .iter()
        .map(|(reason, header)| (*reason, header.as_str()))
        .collect();
    headers(&borrowed)
}

fn system(text: &str) -> String {
    format!(r#"{{"config":{{"provider":"p","model":"m"}},"system":"{text}"}}"#)
}

fn tools(names: &[&str]) -> String {
    let tools: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"name":"{name}","description":"d","parameters":{{}}}}"#))
        .collect();
    format!(
        r#"{{"config":{{"provider":"p","model":"m"}},"tools":[{}]}}"#,
        tools.join(",")
    )
}

fn verdicts(timeline: &Timeline) -> Vec<Verdict> {
    timeline.rows.iter().map(|row| row.verdict).collect()
}

fn parts(row: &HeaderRow) -> Vec<Part> {
    row.change
        .iter()
        .flat_map(|change| change.parts())
        .collect()
}

#[test]
fn each_verdict_is_told() {
    let (a, b) = (system("a"), system("b"));
    let found = headers(&[
        ("initial", &a),
        ("resume", &a),
        ("resume", &b),
        ("change", &a),
        ("change", &a),
        ("series", &a),
    ]);
    assert_eq!(
        verdicts(&found),
        [
            Verdict::Initial,
            Verdict::Same,
            Verdict::Drift,
            Verdict::Change,
            Verdict::ChangeWithoutChange,
            Verdict::Same,
        ]
    );
    assert_eq!((found.distinct, found.requests), (2, 6));
    assert_eq!(found.rows[3].returns_to, Some(found.rows[1].seq));
    assert_eq!(found.rows[5].reason, Some(Reason::Series));
    assert_eq!(found.rows[2].instance, 2);
    assert_eq!(found.rows[1].since, Some(6000));
    assert_eq!(
        (
            found.rows[1].turn,
            found.rows[1].step,
            found.rows[1].attempt
        ),
        (Some(2), Some(1), Some(1))
    );
}

#[test]
fn redacted_headers_are_said_to_be_so() {
    let hidden = system("{{system}}");
    let other = hidden.replace("\"m\"", "\"n\"");
    let found = headers(&[
        ("initial", &hidden),
        ("change", &hidden),
        ("change", &other),
    ]);
    assert_eq!(
        verdicts(&found),
        [Verdict::Initial, Verdict::Hidden, Verdict::Change]
    );
    assert_eq!(found.rows[1].redacted, [Part::System]);
    let shown = system("a prompt");
    let later = headers(&[("initial", &hidden), ("change", &shown)]);
    assert_eq!(later.rows[1].verdict, Verdict::Hidden);
    assert_eq!(parts(&found.rows[2]), [Part::Config]);
}

#[test]
fn a_header_without_a_request_is_a_row_too() {
    let mut writer = Writer::new(0);
    writer.step(|writer, _| {
        writer.header("initial", &system("a"));
        writer.header("change", &system("b"));
    });
    let found = timeline_of(&writer);
    assert_eq!(found.rows.len(), 2);
    assert_eq!(
        (found.rows[0].attempt, found.rows[1].attempt),
        (None, Some(1))
    );
}

#[test]
fn the_kept_prefix_ends_where_the_wire_differs() {
    let found = headers(&[
        ("initial", &system("one two")),
        ("change", &system("one three")),
        ("change", &system("one three").replace("\"m\"", "\"n\"")),
        (
            "change",
            &system("one three").replace("\"m\"", "\"n\",\"maxTokens\":5"),
        ),
    ]);
    let kept: Vec<_> = found
        .rows
        .iter()
        .filter_map(|row| row.change.as_ref()?.kept.as_ref())
        .collect();
    let broken = |at: usize| kept[at].broken.as_ref().map(|broken| &broken.at);
    assert_eq!(broken(0), Some(&SegmentName::System));
    assert!(kept[0].bytes > 0 && kept[0].bytes < kept[0].of);
    assert_eq!((broken(1), kept[1].bytes), (Some(&SegmentName::Route), 0));
    assert_eq!(
        (broken(2), kept[2].doubt.as_deref()),
        (None, Some("maxTokens"))
    );
    assert!(kept[2].bytes < kept[2].of, "a message was added");
}

#[test]
fn a_clock_is_one_pattern_with_its_values() {
    let found = prompts(&[
        "# Rules\\n\\nIt is 12:00:01.",
        "# Rules\\n\\nIt is 12:00:02.",
        "new line\\n# Rules\\n\\nIt is 12:00:02.",
        "new line\\n# Rules\\n\\nIt is 12:00:09.",
    ]);
    assert_eq!(found.patterns.len(), 1);
    let PatternKind::Volatile { spot, varying } = &found.patterns[0].kind else {
        panic!("{:?}", found.patterns);
    };
    assert_eq!(
        (varying, spot.at.as_str(), spot.section.as_deref()),
        (&Varying::Clock, "line 4", Some("# Rules"))
    );
    assert_eq!((spot.before.as_str(), spot.after.as_str()), ("It is ", "."));
    assert_eq!(spot.values, ["12:00:01", "12:00:02", "12:00:09"]);
    let explained: Vec<_> = found.rows.iter().map(|row| row.pattern).collect();
    assert_eq!(explained, [None, Some(0), None, Some(0)]);
}

#[test]
fn a_counter_and_a_path_are_told_apart() {
    let found = prompts(&[
        "run 1\\n\\nin /tmp/a",
        "run 2\\n\\nin /tmp/b",
        "run 3\\n\\nin /tmp/c",
    ]);
    let looks: Vec<_> = found
        .patterns
        .iter()
        .map(|pattern| match &pattern.kind {
            PatternKind::Volatile { varying, .. } => *varying,
            kind => panic!("{kind:?}"),
        })
        .collect();
    assert_eq!(looks, [Varying::Counter, Varying::Path]);
}

#[test]
fn two_edits_of_a_sentence_are_no_pattern() {
    assert_eq!(
        prompts(&["use tabs", "use blanks", "use nothing"]).patterns,
        []
    );
    assert_eq!(
        prompts(&["use tabs", "use blanks", "use nothing", "use both"])
            .patterns
            .len(),
        1
    );
}

#[test]
fn going_back_and_forth_has_a_period() {
    let found = prompts(&["plan mode", "act mode", "plan mode", "act mode"]);
    let PatternKind::Flap { spot, period } = &found.patterns[0].kind else {
        panic!("{:?}", found.patterns);
    };
    assert_eq!(
        (*period, spot.distinct, found.patterns[0].changes),
        (2, 2, 3)
    );
    // Prompts that share no line still come back.
    let found = prompts(&["a\\nb", "c", "a\\nb", "c"]);
    assert!(
        matches!(&found.patterns[0].kind, PatternKind::Flap { spot, .. } if spot.at == "prompt")
    );
}

#[test]
fn tools_that_come_and_go_together_are_one_pattern() {
    let (few, many) = (tools(&["read"]), tools(&["read", "web_a", "web_b"]));
    let found = headers(&[
        ("initial", &few),
        ("change", &many),
        ("change", &few),
        ("change", &many),
    ]);
    assert_eq!(found.patterns.len(), 1);
    assert_eq!(
        found.patterns[0].kind,
        PatternKind::ComeAndGo {
            tools: vec!["web_a".into(), "web_b".into()],
            came: 2,
            went: 1
        }
    );
    assert_eq!(found.rows[2].pattern, Some(0));
}

#[test]
fn another_order_again_and_again_is_a_pattern() {
    let found = headers(&[
        ("initial", &tools(&["a", "b", "c"])),
        ("change", &tools(&["b", "a", "c"])),
        ("change", &tools(&["c", "b", "a"])),
    ]);
    assert_eq!(found.patterns[0].kind, PatternKind::Order);
    assert_eq!(found.rows[1].pattern, Some(0));
}

#[test]
fn a_tool_that_changes_again_and_again_is_a_pattern() {
    let with = |cwd: &str| tools(&["bash"]).replace("\"d\"", &format!("\"Runs in {cwd}.\""));
    let found = headers(&[
        ("initial", &with("/tmp/a1")),
        ("change", &with("/tmp/b2")),
        ("change", &with("/tmp/c3")),
    ]);
    let PatternKind::Volatile { spot, varying } = &found.patterns[0].kind else {
        panic!("{:?}", found.patterns);
    };
    assert_eq!(
        (spot.at.as_str(), *varying),
        ("bash /description", Varying::Path)
    );
    assert_eq!(spot.values, ["/tmp/a1", "/tmp/b2", "/tmp/c3"]);
}

const V3: &str = r#"{"config":{"provider":"p","model":"m"}}"#;

#[test]
fn an_update_in_the_history_and_a_replaced_head_are_different_facts() {
    let mut writer = Writer::new(3);
    let mut head = 0;
    writer.step(|writer, turn| {
        head = writer.system(turn, "one", APPEND);
        writer.header("initial", V3);
    });
    writer.step(|writer, turn| {
        writer.system(turn, "two", APPEND);
    });
    let mut update = 0;
    writer.step(|writer, turn| {
        update = writer.system(turn, "three", APPEND);
    });
    writer.step(|writer, turn| {
        writer.system(turn, "", &replacing(update));
        writer.system(turn, "four", &replacing(head));
        writer.header("series", V3);
    });
    let found = timeline_of(&writer);
    assert_eq!(
        verdicts(&found),
        [
            Verdict::Initial,
            Verdict::Change,
            Verdict::Change,
            Verdict::Change
        ]
    );
    let moves = |at: usize| &found.rows[at].moves[..];
    assert_eq!(moves(0), [SystemMove::HeadAppended { seq: head }]);
    assert!(matches!(moves(1), [SystemMove::PromptUpdate { .. }]));
    assert!(matches!(
        moves(3),
        [
            SystemMove::UpdateEmptied { .. },
            SystemMove::HeadReplaced { .. }
        ]
    ));
    let kept = |at: usize| {
        found.rows[at]
            .change
            .as_ref()
            .and_then(|change| change.kept.clone())
            .expect("two requests")
    };
    assert_eq!(kept(1).broken, None);
    assert_eq!(
        kept(3).broken.map(|broken| broken.at),
        Some(SegmentName::System)
    );
    assert_eq!(
        (found.rows[1].reason, found.rows[1].seq),
        (None, Seq(moves(1)[0].seq().expect("an event")))
    );
    assert_eq!(found.rows[2].size.system, 5);
}

#[test]
fn a_developer_message_says_which_tools_came() {
    let mut writer = Writer::new(4);
    let with = |names: &[&str]| tools(names);
    writer.step(|writer, turn| {
        writer.system(turn, "one", APPEND);
        writer.header("initial", &with(&["a"]));
    });
    writer.step(|writer, turn| {
        let header = writer.header("change", &with(&["a", "b"]));
        let data = format!(
            r#"{{"turn":{turn},"step":1,"message":{{"source":{{"kind":"tool-registry"}},"content":[{{"type":"tool-addition","toolName":"b"}}],"role":"developer","id":"d"}},"headerSeq":{header}}}"#
        );
        writer.event("developer/message", &data, &format!(",{APPEND}"));
    });
    let found = timeline_of(&writer);
    assert_eq!(found.rows.len(), 2);
    assert!(matches!(
        &found.rows[1].moves[..],
        [SystemMove::ToolUpdate { added, removed, .. }] if added == &["b"] && removed.is_empty()
    ));
    assert_eq!(parts(&found.rows[1]), [Part::Tools]);
}

#[test]
fn states_are_the_headers_without_repeats() {
    let mut writer = Writer::new(0);
    for (reason, text) in [("initial", "a"), ("resume", "a"), ("change", "b")] {
        writer.step(|writer, _| {
            writer.header(reason, &system(text));
        });
    }
    let found: Vec<HeaderState> = read(writer.bytes(), |log| {
        states(&log.session, log.requests().expect("readable"))
    });
    assert_eq!(found.len(), 2);
    assert_eq!(
        (&*found[0].system, &*found[1].system),
        (&b"a"[..], &b"b"[..])
    );
    assert_ne!(found[0].digests(), found[1].digests());
}

#[test]
fn other_parts_are_left_out_on_request() {
    let (a, b) = (system("a"), system("b"));
    let c = b.replace("\"m\"", "\"n\"");
    let mut found = headers(&[
        ("initial", &a),
        ("change", &b),
        ("change", &c),
        ("change", &a),
    ]);
    found.keep_parts(&[Part::Config]);
    assert_eq!((found.rows.len(), found.left_out), (3, 1));
    assert_eq!(parts(&found.rows[2]), [Part::Config]);
    found.hide_text();
    assert!(
        found.rows[1]
            .change
            .as_ref()
            .is_some_and(|change| change.config[0].old.is_none())
    );
}

#[test]
fn thousands_of_headers_are_walked_in_one_go() {
    let texts: Vec<String> = (0..2_000)
        .map(|n| format!("rule\\nstep {n}\\nend"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = prompts(&texts);
    assert_eq!(found.rows.len(), 2_000);
    assert_eq!(
        (found.patterns.len(), found.patterns[0].changes),
        (1, 1_999)
    );
    assert!(found.rows.iter().skip(1).all(|row| row.pattern == Some(0)));
}
