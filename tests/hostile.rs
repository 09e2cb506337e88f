//! Logs that somebody made to hurt: the time they take grows with their length, whatever is in them.
//!
//! Nothing here looks at a clock. A walk that begins anew for each line makes its test run for minutes.

#[path = "common/session.rs"]
mod session;

use std::io;

use dsh_audit::analyse::header::{Limits, timeline};
use dsh_audit::finding::{Finding, Level};
use dsh_audit::log::{Log, ReadOptions};
use dsh_audit::request::Digests;
use dsh_audit::rules;
use dsh_audit::source::Source;

const MANY: u64 = 12_000;

/// Audits a log and rebuilds its requests; what the rules say, and how many requests there were.
fn audit(log: session::Log) -> (Vec<Finding>, usize) {
    let source = Source::from_bytes(log.text().into_bytes());
    let log = Log::read(&source, &ReadOptions::default()).expect("memory is readable");
    let mut digests = Digests::default();
    let mut count = 0;
    if let Some(mut requests) = log.requests() {
        while let Some(request) = requests.next_request() {
            digests.next(&request).expect("nothing is written");
            request.write_options(&mut io::sink()).expect("a sink");
            count += 1;
        }
    }
    (rules::judge(&log), count)
}

/// What was found, the cache aside: these logs report no usage.
fn codes(findings: &[Finding]) -> Vec<u16> {
    let codes = findings.iter().map(|finding| finding.rule.code);
    let mut codes: Vec<u16> = codes.filter(|code| *code < 800).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn a_step_may_have_any_number_of_pending_calls() {
    let mut log = session::Log::new(0);
    log.begin();
    for call in 0..MANY {
        let data =
            format!(r#"{{"turn":1,"step":1,"callId":"c{call}","name":"n","arguments":"{{}}"}}"#);
        log.event("tool/call", &data, "");
    }
    log.event("step/end", r#"{"turn":1,"step":1}"#, "");
    let (findings, _) = audit(log);
    assert_eq!(
        codes(&findings),
        [109, 606, 607],
        "the facts beyond the limit are counted"
    );
}

#[test]
fn a_response_may_have_any_number_of_blocks() {
    let mut log = session::Log::new(0);
    log.begin();
    for index in 0..MANY {
        let chunk = format!(
            r#"{{"type":"text-delta","index":{},"text":"x"}}"#,
            index * 7
        );
        let data = format!(r#"{{"turn":1,"step":1,"chunk":{chunk}}}"#);
        log.event("assistant/chunk", &data, "");
    }
    for _ in 0..MANY {
        let finish = r#"{"turn":1,"step":1,"chunk":{"type":"finish","reason":{"kind":"stop"}}}"#;
        log.event("assistant/chunk", finish, "");
    }
    let (findings, requests) = audit(log);
    assert_eq!(codes(&findings), [607, 705]);
    assert_eq!(requests as u64, MANY, "each finish ends an attempt");
}

#[test]
fn a_turn_may_have_any_number_of_retry_chains() {
    let mut log = session::Log::new(0);
    log.begin();
    for chain in 0..MANY {
        let id = format!(r#""retryId":"r{chain}","turn":1,"step":1"#);
        let policy = format!(r#""provider":"p","mode":"always","policyKey":"k{chain}""#);
        let failure = r#""failure":{"message":"m","code":"c"}"#;
        let data = format!(r#"{{{id},{policy},"retry":1,"delayMs":1,{failure}}}"#);
        log.event("llm/retry", &data, "");
        log.event("llm/retry-started", &format!(r#"{{{id},"retry":1}}"#), "");
    }
    let (findings, _) = audit(log);
    assert_eq!(codes(&findings), [607]);
}

#[test]
fn a_header_may_declare_any_number_of_tools_and_be_named_as_often() {
    let mut log = session::Log::new(4);
    log.event("turn/start", r#"{"turn":1}"#, "");
    log.event("step/start", r#"{"turn":1,"step":1}"#, "");
    let tool = |at| format!(r#"{{"name":"t{at}","description":"d","parameters":{{}}}}"#);
    let tools: Vec<String> = (0..MANY).map(tool).collect();
    let header = log.header(0, &format!(r#","tools":[{}]"#, tools.join(",")));
    for at in 0..MANY {
        let block = format!(r#"{{"type":"tool-addition","toolName":"t{at}"}}"#);
        let source = r#""source":{"kind":"x"}"#;
        let message =
            format!(r#"{{"role":"developer","content":[{block}],{source},"id":"d{at}"}}"#);
        let data = format!(r#"{{"turn":1,"step":1,"message":{message},"headerSeq":{header}}}"#);
        log.event("developer/message", &data, r#","surfaceOp":"append""#);
    }
    log.event(
        "assistant/attempt",
        r#"{"turn":1,"step":1,"stream":[]}"#,
        "",
    );
    assert_eq!(audit(log).1, 1);
}

#[test]
fn a_surface_may_shrink_at_its_head_any_number_of_times() {
    let mut log = session::Log::new(0);
    log.event("turn/start", r#"{"turn":1}"#, "");
    let first: Vec<u64> = (0..MANY)
        .map(|_| log.user("", r#""surfaceOp":"append""#))
        .collect();
    let mut head = first[0];
    for next in &first[1..] {
        let replace = format!(r#"{{"op":"replace","start":{head},"end":{next}}}"#);
        let sources = format!("[{},{}]", head.min(*next), head.max(*next));
        let surface = format!(r#""sourceEventSeqs":{sources},"surfaceOp":{replace}"#);
        head = log.user("", &surface);
    }
    log.event("step/start", r#"{"turn":1,"step":1}"#, "");
    log.header(0, "");
    let finish = r#"{"turn":1,"step":1,"chunk":{"type":"finish","reason":{"kind":"stop"}}}"#;
    log.event("assistant/chunk", finish, "");
    let (findings, requests) = audit(log);
    assert_eq!((codes(&findings), requests), (vec![607], 1));
}

#[test]
fn a_flood_of_light_faults_hides_no_grave_one() {
    let mut log = session::Log::new(0);
    log.begin();
    for at in 0..MANY {
        log.event("feedback/record", &format!(r#"{{"text": "{at}"}}"#), "");
    }
    log.event("no/such", "{}", "");
    let (findings, _) = audit(log);
    assert_eq!(codes(&findings), [109, 209, 305, 607]);
    let beyond = findings.iter().find(|finding| finding.rule.code == 109);
    let beyond = beyond.expect("the limit was reached");
    assert_eq!(beyond.level, Level::Note, "only notes are beyond it");
    assert_eq!(beyond.at.seq.map(|seq| seq.0), Some(3 + 10_000));
    let message = "2000 more facts for DSH0209 not-canonical were counted and not judged";
    assert_eq!(beyond.message, message);
}

#[test]
fn images_may_be_left_out_one_by_one() {
    let mut log = session::Log::new(4);
    log.begin();
    let attachment =
        r#"{"attachmentId":"a","mediaType":"image/png","bytes":1,"width":1,"height":1}"#;
    let image = format!(r#"{{"type":"image","attachment":{attachment}}}"#);
    let images = vec![image; MANY as usize].join(",");
    let message = log.user(&images, r#""surfaceOp":"append""#);
    for at in (0..MANY).rev() {
        let data = format!(r#"{{"targets":[{{"seq":{message},"imageIndexes":[{at}]}}]}}"#);
        log.event("image/offload", &data, "");
    }
    log.event(
        "assistant/attempt",
        r#"{"turn":1,"step":1,"stream":[]}"#,
        "",
    );
    assert_eq!(audit(log).1, 1);
}

#[test]
fn a_request_may_stand_behind_any_number_of_headers_and_messages() {
    let mut log = session::Log::new(4);
    log.event("turn/start", r#"{"turn":1}"#, "");
    log.event("step/start", r#"{"turn":1,"step":1}"#, "");
    for model in 0..MANY {
        log.header(model, "");
        log.user("", r#""surfaceOp":"append""#);
    }
    log.event(
        "assistant/attempt",
        r#"{"turn":1,"step":1,"stream":[]}"#,
        "",
    );
    assert_eq!(audit(log).1, 1);
}

#[test]
fn answers_that_differ_late_cost_as_much_as_early_ones() {
    let mut log = session::Log::new(0);
    log.event("turn/start", r#"{"turn":1}"#, "");
    for step in 1..MANY {
        log.event("step/start", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
        if step == 1 {
            log.header(0, "");
        }
        let text = if step > MANY - 10_000 { "x" } else { "" };
        let delta = format!(r#"{{"type":"text-delta","index":0,"text":"{text}"}}"#);
        let data = format!(r#"{{"turn":1,"step":{step},"chunk":{delta}}}"#);
        let chunk = log.event("assistant/chunk", &data, "");
        let source = r#"{"kind":"model","provider":"p","model":"m0"}"#;
        let content = r#"[{"type":"text","text":""}]"#;
        let message = format!(
            r#"{{"role":"assistant","content":{content},"source":{source},"id":"a{step}"}}"#
        );
        let data = format!(r#"{{"turn":1,"step":{step},"message":{message}}}"#);
        let more = format!(r#","sourceEventSeqs":[{chunk}],"surfaceOp":"append""#);
        log.event("assistant/message", &data, &more);
        log.event("step/end", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
    }
    let (findings, _) = audit(log);
    let differing = findings.iter().filter(|finding| finding.rule.code == 701);
    assert!(differing.count() > 0);
}

#[test]
fn a_config_may_have_any_number_of_members_and_change_them_all() {
    let mut log = session::Log::new(0);
    log.event("turn/start", r#"{"turn":1}"#, "");
    for (step, reason) in [(1, "initial"), (2, "change")] {
        log.event("step/start", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
        let member = |at| format!(r#","k{at}":{}"#, at + step);
        let members: String = (0..MANY).map(member).collect();
        let config = format!(r#"{{"provider":"p","model":"m"{members}}}"#);
        let data = format!(r#"{{"header":{{"config":{config}}},"reason":"{reason}"}}"#);
        log.event("request/header", &data, "");
        if step == 1 {
            let text = "a word ".repeat(2_000);
            let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
            log.user(&block, r#""surfaceOp":"append""#);
        }
        let usage = r#"{"inputTokens":5000,"outputTokens":1,"cacheReadTokens":0}"#;
        for chunk in [
            format!(r#"{{"type":"usage","usage":{usage}}}"#),
            r#"{"type":"finish","reason":{"kind":"stop"}}"#.to_string(),
        ] {
            let data = format!(r#"{{"turn":1,"step":{step},"chunk":{chunk}}}"#);
            log.event("assistant/chunk", &data, "");
        }
        log.event("step/end", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
    }
    let source = Source::from_bytes(log.text().into_bytes());
    let log = Log::read(&source, &ReadOptions::default()).expect("memory is readable");
    let findings = rules::judge(&log);
    let lost = findings.iter().find(|finding| finding.rule.code == 802);
    let help = lost.and_then(|lost| lost.help.as_deref());
    let help = help.expect("the hit is missed, and the config changed");
    assert!(
        help.contains("config k0, k1, ") && help.len() < 150,
        "{help}"
    );
    let (requests, prompts) = log.requests().zip(log.prompts()).expect("not rejected");
    let told = timeline(&log.session, requests, prompts, &Limits::default());
    assert_eq!(told.rows.len(), 2);
}
