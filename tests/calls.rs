//! Calls that are not the loop's are rebuilt from what the log holds of them.

use dsh_audit::log::{Log, ReadOptions};
use dsh_audit::source::Source;

/// A log of the version with these events, numbered.
fn log(version: u64, events: &[&str]) -> Source {
    let rest = match version {
        0 => "\"delegationDepth\":0",
        _ => "\"isSeeded\":false,\"delegationDepth\":0",
    };
    let mut text = format!(
        "{{\"type\":\"session\",\"version\":{version},\"id\":\"s\",\"createdAt\":1,{rest}}}\n"
    );
    for (seq, event) in events.iter().enumerate() {
        let (kind, data) = event.split_once(' ').expect("a type and data");
        let (data, rest) = data.split_once(" + ").unwrap_or((data, ""));
        text += &format!(
            "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1790000000000,\"data\":{data}{rest}}}\n"
        );
    }
    Source::from_bytes(text.into_bytes())
}

/// Each call's purpose, whether it is exact, and its options up to the instruction's text.
fn calls(source: &Source) -> Vec<(String, bool, String)> {
    let log = Log::read(source, &ReadOptions::default()).expect("memory is readable");
    assert_eq!(log.faults.noted().len(), 0, "{:?}", log.faults);
    let mut calls = log.calls().expect("a session log");
    let mut all = Vec::new();
    while let Some(call) = calls.next_call() {
        let mut options = Vec::new();
        call.write_options(&mut options)
            .expect("memory takes every byte");
        let options = String::from_utf8(options).expect("text");
        all.push((
            call.purpose().word().into(),
            call.is_exact(),
            short(&options),
        ));
    }
    all
}

/// The options with `…` in the place of the instruction.
fn short(options: &str) -> String {
    let Some((before, rest)) = options.split_once("\"You are now acting as") else {
        return options.into();
    };
    let (_, behind) = rest
        .split_once("structure.\"")
        .expect("the instruction ends so");
    format!("{before}…{behind}")
}

const SUMMARY: &str = "compaction/summary {\"compactionId\":\"c\",\"summary\":[{\"type\":\"text\",\"text\":\"s\"}],\
    \"llmStreamCall\":true,\"shadowedRange\":{\"start\":SEQ,\"end\":SEQ},\"shadowedSeqs\":[SEQ],\"shadowedTokenCount\":1,\
    \"provider\":\"p\",\"model\":\"m\",\"maxTokens\":9}";

#[test]
fn a_summary_repeats_what_it_shadows() {
    let user = r#"{"content":[{"type":"text","text":"q"}],"source":{"kind":"user"},"role":"user","id":"u"}"#;
    let system = r#"{"role":"system","content":[{"type":"text","text":"be"}],"source":{"kind":"system-prompt"},"id":"y"}"#;
    let appended = " + ,\"surfaceOp\":\"append\"";
    let config = "\"config\":{\"provider\":\"p\",\"model\":\"m\"}";
    let tools = "[{\"name\":\"t\",\"description\":\"d\",\"parameters\":{}}]";
    let summary = |seq: u64| SUMMARY.replace("SEQ", &seq.to_string());
    let version_4 = log(
        4,
        &[
            "turn/start {\"turn\":1}",
            "step/start {\"turn\":1,\"step\":1}",
            &format!("system/message {{\"turn\":1,\"step\":1,\"message\":{system}}}{appended}"),
            &format!("user/message {user}{appended}"),
            &format!(
                "request/header {{\"header\":{{{config},\"tools\":{tools}}},\"reason\":\"initial\"}}"
            ),
            "assistant/attempt {\"turn\":1,\"step\":1,\"stream\":[]}",
            "step/end {\"turn\":1,\"step\":1}",
            "compaction/start {\"compactionId\":\"c\",\"turn\":1}",
            &summary(3),
            "compaction/end {\"compactionId\":\"c\",\"turn\":1}",
            "turn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}",
        ],
    );
    let want = format!(
        "{{\"provider\":\"p\",\"model\":\"m\",\"messages\":[{system},{user},\
         {{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":…}}]}}],\
         \"toolHistory\":{{\"tools\":{tools},\"updates\":[]}},\"tools\":{tools},\"maxTokens\":9,\"sessionId\":\"s\",\"purpose\":\"compaction\"}}"
    );
    assert_eq!(calls(&version_4), [("compaction".into(), true, want)]);

    let version_0 = log(
        0,
        &[
            "turn/start {\"turn\":1}",
            "step/start {\"turn\":1,\"step\":1}",
            &format!("user/message {user}{appended}"),
            &format!(
                "request/header {{\"header\":{{{config},\"system\":\"be\"}},\"reason\":\"initial\"}}"
            ),
            "step/end {\"turn\":1,\"step\":1}",
            "compaction/start {\"compactionId\":\"c\",\"turn\":1}",
            &summary(2),
            "compaction/end {\"compactionId\":\"c\",\"turn\":1}",
            "turn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}",
        ],
    );
    let want = format!(
        "{{\"provider\":\"p\",\"model\":\"m\",\"messages\":[{user},{{\"content\":[{{\"type\":\"text\",\"text\":…}}],\
         \"source\":{{\"kind\":\"plugin\",\"plugin\":\"dsh-compaction-basic\"}},\"role\":\"user\"}}],\
         \"system\":\"be\",\"maxTokens\":9,\"sessionId\":\"s\",\"purpose\":\"compaction\"}}"
    );
    assert_eq!(calls(&version_0), [("compaction".into(), false, want)]);
}

#[test]
fn titles_and_searches_are_their_events() {
    let title = "\"titleProvider\":\"t\",\"messageSeqs\":[2],\"route\":{\"provider\":\"p\",\"model\":\"m\"},\"system\":\"name it\",\
        \"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}],\"source\":{\"kind\":\"user\"},\"id\":\"t\"}],\"maxTokens\":64";
    let message = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}],\"source\":{\"kind\":\"user\"},\"id\":\"t\"}";
    let search = "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"w\"}]}],\
        \"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\",\"max_uses\":1}]}";
    let log = log(
        0,
        &[
            "turn/start {\"turn\":1}",
            "step/start {\"turn\":1,\"step\":1}",
            "user/message {\"content\":[],\"source\":{\"kind\":\"user\"},\"role\":\"user\",\"id\":\"u\"} + ,\"surfaceOp\":\"append\"",
            "request/header {\"header\":{\"config\":{\"provider\":\"p\",\"model\":\"m\"}},\"reason\":\"initial\"}",
            &format!("session/title-llm-request {{{title}}}"),
            &format!(
                "web/deepseek-search-llm-request {{\"endpoint\":\"https://e/messages\",\"apiVersion\":\"v\",\"body\":{search}}}"
            ),
            "step/end {\"turn\":1,\"step\":1}",
            "turn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}",
        ],
    );
    let want = format!(
        "{{\"provider\":\"p\",\"model\":\"m\",\"messages\":[{message}],\"system\":\"name it\",\"maxTokens\":64,\
         \"sessionId\":\"s\",\"purpose\":\"session-title\"}}"
    );
    assert_eq!(
        calls(&log),
        [
            ("session-title".into(), true, want),
            ("web-search".into(), true, search.into()),
        ]
    );
}
