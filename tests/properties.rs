//! What holds for every log, sound or damaged.
//!
//! `DSH_AUDIT_CUTS=all` cuts logs at every byte; `PROPTEST_CASES` says how often dice are thrown.

#[path = "../fuzz/checks/mod.rs"]
mod checks;
#[path = "../benches/loggen/mod.rs"]
mod loggen;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use checks::alike::agree;
use checks::readers::{Slowly, Told, check_places, every_reader_tells_the_same, tell, told};
use dsh_audit::dialect::decode_storage_record;
use dsh_audit::finding::{Finding, Level};
use dsh_audit::fold::{OpKind, fold_request_header, fold_surface};
use dsh_audit::line::Seq;
use dsh_audit::log::{Log, ReadOptions};
use dsh_audit::record::Raw;
use dsh_audit::source::{Source, SourceOptions};
use loggen::{Encoding, Habits, Recipe, Shape, write_log};
use proptest::prelude::*;

/// A healthy log in which much happens in little room.
fn healthy(shape: Shape, encoding: Encoding, seed: u64, steps: u64) -> Vec<u8> {
    let recipe = Recipe {
        shape,
        encoding,
        seed,
        steps: Some(steps),
        step_size: Some(700),
        cadence: 2,
        habits: Habits::default(),
        ..Recipe::default()
    };
    let mut log = Vec::new();
    write_log(&recipe, &mut log).expect("memory takes every byte");
    log
}

/// Throws dice so often, or as often as `PROPTEST_CASES` says.
fn dice(cases: u32) -> ProptestConfig {
    let is_wished = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig {
        failure_persistence: None,
        cases: if is_wished { default.cases } else { cases },
        ..default
    }
}

fn lines(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.split_inclusive(|byte| *byte == b'\n')
}

// Packed rows.

/// A delta as it may stand in a chunk event: kind, index, text, id and name.
#[derive(Clone, Debug, PartialEq)]
struct Delta {
    kind: u8,
    index: u8,
    text: String,
    name: Option<String>,
    pause: i64,
}

fn delta() -> impl Strategy<Value = Delta> {
    // Runs of one kind are frequent, so that rows are packed.
    let text = prop_oneof![".{0,8}", "[\"\\\\\u{0}\u{1f}\u{2028}é😀]{0,3}"];
    let name = proptest::option::of(prop_oneof![Just(String::new()), Just("tool".into())]);
    (0..3_u8, 0..2_u8, text, name, -3..5_i64).prop_map(|(kind, index, text, name, pause)| Delta {
        kind: kind / 2 * 2,
        index,
        text,
        name: name.filter(|_| kind == 2),
        pause,
    })
}

fn string(text: &str) -> String {
    serde_json::to_string(text).expect("a string prints")
}

impl Delta {
    fn type_name(&self) -> &'static str {
        ["text", "reasoning", "tool-call"][usize::from(self.kind)]
    }

    /// Whether one row can hold both.
    fn joins(&self, other: &Delta) -> bool {
        (self.kind, self.index, &self.name) == (other.kind, other.index, &other.name)
    }

    fn identity(&self) -> String {
        let name = self.name.as_ref();
        let name = name.map_or(String::new(), |name| format!(r#","name":{}"#, string(name)));
        let id = format!(r#""id":"c{}"{name},"#, self.index);
        if self.kind == 2 { id } else { String::new() }
    }

    /// The event, as the writer prints it.
    fn event(&self, seq: u64, time: i64) -> String {
        let (kind, index, text) = (self.type_name(), self.index, string(&self.text));
        let payload = if self.kind == 2 {
            "argumentsDelta"
        } else {
            "text"
        };
        let identity = self.identity();
        let chunk =
            format!(r#"{{"type":"{kind}-delta","index":{index},{identity}"{payload}":{text}}}"#);
        let data = format!(r#"{{"turn":1,"step":1,"chunk":{chunk}}}"#);
        format!(r#"{{"type":"assistant/chunk","seq":{seq},"time":{time},"data":{data}}}"#)
    }
}

/// Packs as the writer does: runs of three and more that one row can hold.
fn pack(deltas: &[Delta], seq0: u64, time0: i64) -> (Vec<String>, Vec<String>) {
    let (mut rows, mut events) = (Vec::new(), Vec::new());
    let (mut seq, mut time) = (seq0, time0);
    for run in deltas.chunk_by(|one, other| one.joins(other)) {
        let (first, start) = (seq, events.len());
        let begin = time;
        let mut pauses = Vec::new();
        for (at, delta) in run.iter().enumerate() {
            if at > 0 {
                time += delta.pause;
                pauses.push(delta.pause.to_string());
            }
            events.push(delta.event(seq, time));
            seq += 1;
        }
        if run.len() < 3 {
            rows.extend_from_slice(&events[start..]);
            continue;
        }
        let (kind, index, identity) = (run[0].type_name(), run[0].index, run[0].identity());
        let list = if run[0].kind == 2 { "args" } else { "texts" };
        let texts: Vec<String> = run.iter().map(|delta| string(&delta.text)).collect();
        let (dt, texts) = (pauses.join(","), texts.join(","));
        let data = format!(
            r#"{{"turn":1,"step":1,"index":{index},"dt":[{dt}],{identity}"{list}":[{texts}]}}"#
        );
        let numbers = format!(r#""seq0":{first},"time0":{begin}"#);
        rows.push(format!(
            r#"{{"type":"{kind}-chunks",{numbers},"data":{data}}}"#
        ));
    }
    (rows, events)
}

proptest! {
    #![proptest_config(dice(128))]

    #[test]
    fn what_is_packed_unpacks_to_itself(deltas in prop::collection::vec(delta(), 1..40), seq in 0..9_u64) {
        let (rows, events) = pack(&deltas, seq, 1000);
        let unpacked = rows.iter().flat_map(|row| decode_storage_record(row.as_bytes()).expect("a row"));
        let unpacked: Vec<String> = unpacked.map(|event| String::from_utf8(event).expect("text")).collect();
        prop_assert_eq!(unpacked, events);
    }

    #[test]
    fn a_log_says_the_same_packed_and_unpacked(deltas in prop::collection::vec(delta(), 1..40)) {
        let (rows, events) = pack(&deltas, 3, 1000);
        let around = |middle: &[String]| {
            let mut log = String::new();
            writeln!(log, r#"{{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}}"#).unwrap();
            writeln!(log, r#"{{"type":"turn/start","seq":0,"time":1,"data":{{"turn":1}}}}"#).unwrap();
            writeln!(log, r#"{{"type":"step/start","seq":1,"time":1,"data":{{"turn":1,"step":1}}}}"#).unwrap();
            writeln!(log, r#"{{"type":"request/header","seq":2,"time":1,"data":{{"header":{{"config":{{"provider":"p","model":"m"}}}},"reason":"initial"}}}}"#).unwrap();
            for line in middle {
                writeln!(log, "{line}").unwrap();
            }
            let seq = 3 + deltas.len();
            writeln!(log, r#"{{"type":"assistant/message","seq":{seq},"time":1,"data":{{"turn":1,"step":1,"message":{{"role":"assistant","content":[],"source":{{"kind":"model","provider":"p","model":"m"}},"id":"a"}}}},"sourceEventSeqs":[[3,{}]],"surfaceOp":"append"}}"#, seq - 1).unwrap();
            tell(log.as_bytes())
        };
        let (packed, unpacked) = (around(&rows), around(&events));
        prop_assert_eq!(&packed.requests, &unpacked.requests);
        let said = |told: &Told| told.findings.iter().map(|finding| (finding.rule.code, finding.message.clone())).collect::<BTreeSet<_>>();
        prop_assert_eq!(said(&packed), said(&unpacked));
    }
}

// Damaged logs.

/// One damage; the numbers are shares of what there is to damage.
#[derive(Clone, Debug)]
enum Damage {
    Delete(u16),
    Repeat(u16),
    Swap(u16, u16),
    Cut(u16),
    Byte(u16, u8),
    Insert(u16, Vec<u8>),
    Number(u16, i64),
    Newline(u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\0\0\0".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just(br#","a":1"#.to_vec()),
        Just(br#"\ud83d"#.to_vec()),
        Just(b"\xF0\x9F".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"[[[[".to_vec()),
        prop::collection::vec(any::<u8>(), 1..6),
    ];
    let number = prop_oneof![
        -2..12_i64,
        Just((1 << 53) - 1),
        Just(1 << 53),
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    prop_oneof![
        any::<u16>().prop_map(Damage::Delete),
        any::<u16>().prop_map(Damage::Repeat),
        (any::<u16>(), any::<u16>()).prop_map(|(one, other)| Damage::Swap(one, other)),
        any::<u16>().prop_map(Damage::Cut),
        (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (any::<u16>(), piece).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (any::<u16>(), number).prop_map(|(at, number)| Damage::Number(at, number)),
        any::<u16>().prop_map(Damage::Newline),
    ]
}

fn share(of: usize, share: u16) -> usize {
    of.saturating_sub(1) * usize::from(share) / usize::from(u16::MAX)
}

fn damaged(log: Vec<u8>, damage: &Damage) -> Vec<u8> {
    let mut all: Vec<&[u8]> = lines(&log).collect();
    match damage {
        _ if log.is_empty() => log,
        Damage::Delete(at) => {
            all.remove(share(all.len(), *at));
            all.concat()
        }
        Damage::Repeat(at) => {
            let at = share(all.len(), *at);
            all.insert(at, all[at]);
            all.concat()
        }
        Damage::Swap(one, other) => {
            let len = all.len();
            all.swap(share(len, *one), share(len, *other));
            all.concat()
        }
        Damage::Cut(at) => log[..share(log.len(), *at)].to_vec(),
        Damage::Byte(at, byte) => {
            let mut log = log;
            let at = share(log.len(), *at);
            log[at] = *byte;
            log
        }
        Damage::Insert(at, piece) => {
            let mut log = log;
            let at = share(log.len(), *at);
            log.splice(at..at, piece.iter().copied());
            log
        }
        Damage::Number(at, number) => {
            let mut log = log;
            let from = share(log.len(), *at);
            let digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(at) = log[from..].iter().position(digit).map(|at| at + from) {
                let end = log[at..].iter().position(|byte| !digit(byte));
                let end = end.map_or(log.len(), |len| at + len);
                log.splice(at..end, number.to_string().into_bytes());
            }
            log
        }
        Damage::Newline(at) => {
            let from = share(log.len(), *at);
            let mut log = log;
            if let Some(at) = log[from..].iter().position(|byte| *byte == b'\n') {
                log.remove(from + at);
            }
            log
        }
    }
}

/// A log that prints as text.
#[derive(Clone)]
struct Text(Vec<u8>);

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

fn some_log() -> impl Strategy<Value = Text> {
    let shape = (0..Shape::NAMES.len()).prop_map(|at| Shape::NAMES[at].1);
    let log = (shape, 0..40_u64, 1..6_u64)
        .prop_map(|(shape, seed, steps)| healthy(shape, Encoding::Raw, seed, steps));
    (log, prop::collection::vec(damage(), 0..4))
        .prop_map(|(log, damages)| Text(damages.iter().fold(log, damaged)))
}

proptest! {
    #![proptest_config(dice(64))]

    #[test]
    fn every_place_lies_in_its_line(Text(log) in some_log()) {
        check_places(&log, &tell(&log).findings);
    }

    #[test]
    fn readers_tell_the_same(Text(log) in some_log(), every in 1..4000_usize) {
        agree(&log, "a log");
        every_reader_tells_the_same(&log, every);
    }
}

/// The first and the last seq that stand on a line.
fn seqs_of(line: &[u8]) -> Option<(i64, i64)> {
    let value = Raw::parse(line).ok()?;
    let number = |value: Raw<'_>, name: &str| value.get(name).and_then(Raw::safe_int);
    if let Some(seq) = number(value, "seq") {
        return Some((seq, seq));
    }
    let first = number(value, "seq0")?;
    let later = value.get("data")?.get("dt")?.elements().count() as i64;
    Some((first, first + later))
}

/// How many places of the findings name an event; each must stand on its line.
fn places_that_name_an_event(log: &[u8], findings: &[Finding], name: &str) -> usize {
    let lines: Vec<_> = lines(log).collect();
    let named = findings
        .iter()
        .filter_map(|finding| Some((finding, finding.at.line?, finding.at.seq?)));
    let checked = named.map(|(finding, line, seq)| {
        let (first, last) = seqs_of(lines[line.0 as usize - 1]).expect("an event");
        let holds = first <= seq.0 as i64 && seq.0 as i64 <= last;
        assert!(holds, "{name}: {first} to {last} hold {finding:?}");
    });
    checked.count()
}

#[test]
fn a_place_names_an_event_of_its_line() {
    let mut places = 0;
    for (name, shape) in Shape::NAMES {
        for seed in 0..8 {
            let log = healthy(shape, Encoding::Raw, seed, 12);
            places += places_that_name_an_event(&log, &tell(&log).findings, name);
        }
    }
    // A request that is settled before its header stands in the log shows at what came of it.
    let log = [
        r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#,
        r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}}"#,
        r#"{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}"#,
        r#"{"type":"request/header","seq":2,"time":1,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}"#,
        r#"{"type":"assistant/chunk","seq":3,"time":1,"data":{"turn":1,"step":1,"chunk":{"type":"block-start","index":0,"blockType":"text"}}}"#,
    ];
    let log = (log.join("\n") + "\n").into_bytes();
    places += places_that_name_an_event(&log, &tell(&log).findings, "a trigger");
    assert!(places > 100, "{places} places are too few");
}

// Cut logs.

/// Where logs are cut: everywhere if wanted, else around the ends of lines and here and there.
fn cuts(log: &[u8]) -> Vec<usize> {
    let all = std::env::var("DSH_AUDIT_CUTS").is_ok_and(|wanted| wanted == "all");
    let near_an_end = |at: usize| {
        let around = log.get(at.saturating_sub(2)..(at + 2).min(log.len()));
        around.is_some_and(|around| around.contains(&b'\n'))
    };
    (0..=log.len())
        .filter(|at| all || at % 97 == 0 || (at % 5 == 0 && near_an_end(*at)))
        .collect()
}

/// How many bytes the turns take that are over within the first `cut` bytes.
fn end_of_turns(log: &[u8], cut: usize) -> usize {
    let mut at = 0;
    let mut end = 0;
    for line in lines(&log[..cut]) {
        at += line.len();
        if line.starts_with(br#"{"type":"turn/end""#) && line.ends_with(b"\n") {
            end = at;
        }
    }
    end
}

#[test]
fn a_cut_log_has_at_most_warnings_behind_its_last_turn() {
    for (name, shape) in Shape::NAMES {
        let log = healthy(shape, Encoding::Raw, 5, 4);
        let whole = tell(&log);
        let grave = |finding: &&Finding| finding.level == Level::Error;
        assert!(
            whole.findings.iter().find(grave).is_none(),
            "{name} is healthy"
        );
        let header = log
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a header")
            + 1;
        for cut in cuts(&log).into_iter().filter(|cut| *cut >= header) {
            let told = tell(&log[..cut]);
            check_places(&log[..cut], &told.findings);
            let turns = end_of_turns(&log, cut) as u64;
            for finding in &told.findings {
                let start = finding.at.bytes.map_or(0, |bytes| bytes.span().start);
                let fresh = finding.level == Level::Error
                    || (finding.level == Level::Warning
                        && start < turns
                        && !whole
                            .findings
                            .iter()
                            .any(|other| other.rule.code == finding.rule.code));
                assert!(!fresh, "{name} cut at {cut}: {finding:?}");
            }
            // The last one may be a request that the cut leaves without its answer.
            let sent = &told.requests[..told.requests.len().saturating_sub(1)];
            assert!(whole.requests.starts_with(sent), "{name} cut at {cut}");
        }
    }
}

#[test]
fn a_cut_compressed_log_has_at_most_warnings() {
    for (name, shape) in Shape::NAMES {
        let log = healthy(shape, Encoding::Zstd, 5, 3);
        let whole = tell(&log);
        for cut in cuts(&log) {
            let told = tell(&log[..cut]);
            let grave = |finding: &&Finding| finding.level == Level::Error;
            match told.findings.iter().find(grave) {
                // Without its header a log is none.
                Some(finding) if finding.rule.code == 101 => assert!(cut < 400, "{name} at {cut}"),
                Some(finding) => panic!("{name} cut at {cut}: {finding:?}"),
                None => {}
            }
            let sent = &told.requests[..told.requests.len().saturating_sub(1)];
            assert!(whole.requests.starts_with(sent), "{name} cut at {cut}");
        }
    }
}

// Split logs.

#[test]
fn a_prefix_of_a_log_folds_like_the_whole() {
    for (name, shape) in Shape::NAMES {
        let log = healthy(shape, Encoding::Raw, 9, 12);
        let source = Source::from_bytes(log.clone());
        let whole = Log::read(&source, &ReadOptions::default()).expect("memory");
        let mut end = 0;
        for line in lines(&log) {
            end += line.len();
            let source = Source::from_bytes(log[..end].to_vec());
            let part = Log::read(&source, &ReadOptions::default()).expect("memory");
            for boundary in [part.session.events, part.session.events / 2] {
                let boundary = Seq(boundary);
                let surface = |log: &Log<'_>| -> Vec<Seq> {
                    let live = fold_surface(&log.session, boundary).expect("no legacy");
                    live.iter()
                        .map(|message| log.session.messages[message.get()].seq)
                        .collect()
                };
                assert_eq!(surface(&part), surface(&whole), "{name} before {boundary}");
                let header = |log: &Log<'_>| {
                    let header = fold_request_header(&log.session, boundary).expect("no legacy");
                    header.map(|header| (header.seq, header.raw.bytes().to_vec()))
                };
                assert_eq!(header(&part), header(&whole), "{name} before {boundary}");
            }
        }
    }
}

/// The messages of a request, as they were printed.
fn messages(sent: &[u8]) -> Vec<Vec<u8>> {
    let value = dsh_audit::record::Raw::parse(sent).expect("options are JSON");
    let list = value.get("messages").expect("messages");
    list.elements()
        .map(|message| message.bytes().to_vec())
        .collect()
}

#[test]
fn a_request_extends_the_last_one_where_nothing_was_replaced() {
    let mut extended = 0;
    for (name, shape) in Shape::NAMES {
        for seed in 0..6 {
            let log = healthy(shape, Encoding::Raw, seed, 14);
            let source = Source::from_bytes(log);
            let log = Log::read(&source, &ReadOptions::default()).expect("memory");
            let mut walk = log.requests().expect("a sound log");
            let mut last: Option<(Seq, Vec<u8>)> = None;
            while let Some(request) = walk.next_request() {
                let boundary = request.derived().boundary;
                let mut sent = Vec::new();
                request.write_options(&mut sent).expect("memory");
                let derivation = request.derived().derivation;
                let frame = (
                    request.header().raw.bytes(),
                    derivation,
                    request.derived().inherited,
                );
                let frame = format!("{frame:?}").into_bytes();
                if let Some((before, last)) = &last {
                    let between = log
                        .session
                        .ops
                        .iter()
                        .filter(|op| *before <= op.seq && op.seq < boundary);
                    let only_appends = between
                        .clone()
                        .all(|op| matches!(op.kind, OpKind::Append(_)));
                    let (last, last_frame) =
                        last.split_at(last.len() - frame.len().min(last.len()));
                    if only_appends && last_frame == frame {
                        let (earlier, later) = (messages(last), messages(&sent));
                        assert!(later.starts_with(&earlier), "{name} {seed} at {boundary}");
                        extended += 1;
                    }
                }
                sent.extend(frame);
                last = Some((boundary, sent));
            }
        }
    }
    assert!(extended > 100, "{extended}");
}

#[test]
fn a_repeat_behind_a_row_that_is_no_event_reads_the_same_from_a_stream() {
    let header = r#"{"type":"session","version":0,"id":"s","createdAt":1}"#;
    let turn = r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#;
    let log = format!("{header}\n{header}\n{turn}\n").into_bytes();
    let reader = Slowly::over(&log);
    let stream = Source::from_reader(reader, &SourceOptions::default()).expect("readable");
    assert_eq!(told(&stream, &ReadOptions::default()), tell(&log));
}
