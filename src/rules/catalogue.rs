//! The catalogue of rules: code, name, level, summary and page of each.
//!
//! **Takes** nothing: everything here is written at compile time. **Gives** one static [`Rule`] per row, the whole
//! [`CATALOGUE`] and [`find`]. **Never** decides whether a rule applies: that is the families' work.

use crate::finding::{Level::*, Rule};

/// One `CODE NAME level kebab-name "summary"` row per rule, in code order; the page is `pages/DSH<CODE>.md`.
macro_rules! catalogue {
    ($($code:literal $rule:ident $level:ident $name:literal $summary:literal)*) => {
        $(
            #[doc = $summary]
            #[expect(clippy::zero_prefixed_literal, reason = "codes are written with four digits, as they are printed")]
            pub static $rule: Rule = Rule {
                code: $code,
                name: $name,
                level: $level,
                summary: $summary,
                page: include_str!(concat!("pages/DSH", stringify!($code), ".md")),
            };
        )*

        /// Every rule, in code order.
        pub static CATALOGUE: &[&Rule] = &[$(&$rule),*];
    };
}

catalogue! {
    // 01 bytes and lines
    0101 EMPTY_LOG Error "empty-log"
        "The input has no bytes, or no first line that ends with a newline."
    0102 NOT_A_SESSION_LOG Error "not-a-session-log"
        "The first line is not the header line of a session log of this harness."
    0103 TORN_TAIL Warning "torn-tail"
        "Bytes stand behind the last newline; they are no event, even if they parse."
    0104 ZERO_FILLED_TAIL Warning "zero-filled-tail"
        "The file ends with a run of NUL bytes, as a power loss leaves them."
    0105 TORN_FRAME Warning "torn-frame"
        "The last zstd frame is incomplete; the complete records inside it are used."
    0106 CORRUPT_FRAME Error "corrupt-frame"
        "A complete zstd frame fails its checksum or its structure, or bytes between frames are no frame."
    0107 HEADER_FRAME_NOT_ALONE Error "header-frame-not-alone"
        "The first zstd frame does not decode to exactly one header line."
    0108 LAST_FRAME_CUTS_LINE Error "last-frame-cuts-line"
        "The last zstd frame is complete, but what it holds does not end with a newline."
    0109 LIMIT_REACHED Error "limit-reached"
        "A line, the decoded size or the number of findings exceeds the configured limit."
    0110 BLANK_LINE Warning "blank-line"
        "An empty line stands between the records."
    0111 BYTE_ORDER_MARK Error "byte-order-mark"
        "The file starts with a byte-order mark, so its header line is not JSON."

    // 02 records
    0201 NOT_JSON Error "not-json"
        "A complete line is not JSON."
    0202 NOT_AN_OBJECT Error "not-an-object"
        "A line is JSON, but null, a boolean, a number, a string or an array."
    0203 NOT_UTF_8 Warning "not-utf-8"
        "A line holds bytes that are not UTF-8; the harness reads them as U+FFFD."
    0204 BAD_ENVELOPE Error "bad-envelope"
        "A member of an event's envelope is missing, extra, or of the wrong type."
    0205 DUPLICATE_KEY Warning "duplicate-key"
        "An object has a key twice; the last value counts."
    0206 UNSAFE_NUMBER Error "unsafe-number"
        "A seq or time is no safe integer, or a number is beyond the range of a double."
    0207 MALFORMED_CHUNK_ROW Error "malformed-chunk-row"
        "A packed chunk row breaks its shape; the whole row counts as one bad line."
    0208 LONE_SURROGATE Note "lone-surrogate"
        "A string holds an unpaired surrogate, which providers refuse."
    0209 NOT_CANONICAL Note "not-canonical"
        "A line is not what the writer would have written: it was edited by hand or by another tool."

    // 03 dialect
    0301 UNSUPPORTED_VERSION Error "unsupported-version"
        "The header's version is one that this build does not read."
    0302 LEGACY_HEADER_DELTA Error "legacy-header-delta"
        "The log holds a request/header-delta event, so it is rejected as a whole."
    0303 LEGACY_FALLBACK_REASON Error "legacy-fallback-reason"
        "The log holds a request/header with reason fallback, so it is rejected as a whole."
    0304 LEGACY_MODE_SET Error "legacy-mode-set"
        "The log holds a mode/set event, so it is rejected as a whole."
    0305 UNKNOWN_EVENT_TYPE Error "unknown-event-type"
        "An event's type is unknown where it stands, and the event is not marked ignorable."
    0306 NEWER_SIBLING Note "newer-sibling"
        "A higher generation of the same session stands beside this file."
    0307 REDACTED_HEADER Note "redacted-header"
        "A request header holds placeholders, so requests are not byte-exact."
    0308 BAD_SESSION_HEADER Error "bad-session-header"
        "The header line lacks a member, has one of the wrong type, or has one that is not allowed."
    0309 AMBIGUOUS_REQUEST Note "ambiguous-request"
        "The log alone cannot say how a request was built; an assumption was made."
    0310 SEED_ERA_HEADER Note "seed-era-header"
        "The header has no delegationDepth: current harness builds cannot open this log."

    // 04 sequence and surface
    0401 SEQ_GAP Error "seq-gap"
        "A seq is larger than the one expected: events are missing."
    0402 SEQ_DUPLICATE Error "seq-duplicate"
        "The same seq occurs again."
    0403 SEQ_REWIND Error "seq-rewind"
        "Numbering falls back and a second branch follows: two writers, or a restart."
    0404 MISSING_SURFACE_OP Error "missing-surface-op"
        "An event that produces a message has no surfaceOp."
    0405 UNEXPECTED_SURFACE_OP Error "unexpected-surface-op"
        "An event that produces no message has a surfaceOp or sourceEventSeqs."
    0406 BAD_SURFACE_OP Error "bad-surface-op"
        "A surfaceOp is neither append nor an exact replace, or the protected system head is missing or shadowed."
    0407 BAD_SOURCE_SEQS Error "bad-source-seqs"
        "A sourceEventSeqs list is empty, repeats a seq, points forward, or is not allowed there."
    0408 REPLACE_END_UNKNOWN Error "replace-end-unknown"
        "The start or end of a replace is not on the surface."
    0409 REPLACE_REVERSED Error "replace-reversed"
        "The start of a replace stands behind its end on the surface."
    0410 REPLACE_NOT_COVERED Error "replace-not-covered"
        "A replace shadows an event that its sourceEventSeqs do not name."
    0411 REWRITE_CHANGES_MORE_THAN_CONTENT Error "rewrite-changes-more-than-content"
        "A tool result that rewrites an earlier one changes more than its content."

    // 05 header
    0501 REQUEST_WITHOUT_HEADER Error "request-without-header"
        "A step has a response, and no request header is in force."
    0502 UNKNOWN_HEADER_REASON Error "unknown-header-reason"
        "The reason of a request/header is outside the vocabulary of its dialect."
    0503 HEADER_REASON_WRONG Error "header-reason-wrong"
        "A header says initial though one exists, or resume or change though none exists."
    0504 CHANGE_WITHOUT_CHANGE Error "change-without-change"
        "A header with reason change equals its predecessor."
    0505 HEADER_NOT_CANONICAL Error "header-not-canonical"
        "A header holds an empty system, tools or prefix where the member should be absent."
    0506 HEADER_MISPLACED Error "header-misplaced"
        "A request/header stands outside a turn or step, behind a response, or twice in one attempt."
    0507 SESSION_PREFIX_DRIFT Error "session-prefix-drift"
        "The message prefix differs within one loop instance."
    0508 BAD_HEADER_SHAPE Error "bad-header-shape"
        "A request header lacks its model or provider, or has a member of the wrong type."
    0509 RESPONSE_ROUTE_DIFFERS Error "response-route-differs"
        "The provider or model recorded with an answer is not the header's."
    0510 INSTANCE_NOT_ANCHORED Error "instance-not-anchored"
        "The first request after a load logs no header of its own."

    // 06 turns, steps, tools
    0601 TURN_OUT_OF_ORDER Error "turn-out-of-order"
        "A turn/start or turn/end has the wrong number or stands in the wrong place."
    0602 STEP_OUT_OF_ORDER Error "step-out-of-order"
        "A step/start or step/end has the wrong number or stands in the wrong place."
    0603 EVENT_OUTSIDE_STEP Error "event-outside-step"
        "An event that belongs to a step names a turn and step that are not open."
    0604 EVENT_OUTSIDE_TURN Error "event-outside-turn"
        "An event that belongs into a turn stands between turns."
    0605 RESULT_WITHOUT_CALL Error "result-without-call"
        "A tool result answers no pending call of its step."
    0606 CALL_WITHOUT_RESULT Warning "call-without-result"
        "A tool call is never answered."
    0607 OPEN_TURN Note "open-turn"
        "The log ends inside a turn: the session crashed, or is still running."
    0608 INTERRUPTED_TURN Note "interrupted-turn"
        "A turn was closed by crash repair."
    0609 BAD_COMPACTION Error "bad-compaction"
        "A compaction breaks the rules of its bracket, its summary or its checkpoint."
    0610 BAD_RETRY Error "bad-retry"
        "A retry event breaks the rules of its chain."
    0611 BAD_VOCABULARY Error "bad-vocabulary"
        "A turn's end reason is outside its vocabulary, or the kind of an open union is no non-empty string."
    0612 BAD_EVENT_DATA Error "bad-event-data"
        "The data of a known event lacks a member, has one of the wrong type, or breaks a rule of its type."

    // 07 requests and responses
    0701 RESPONSE_DIFFERS_FROM_CHUNKS Error "response-differs-from-chunks"
        "An assistant message is not what its stream assembles to."
    0702 USAGE_DIFFERS Error "usage-differs"
        "The usage of an assistant message is not its stream's."
    0703 SOURCES_ARE_NOT_THE_CHUNKS Error "sources-are-not-the-chunks"
        "The sourceEventSeqs of an assistant message are not the chunks of its attempt."
    0704 RESPONSE_AFTER_FAILURE Error "response-after-failure"
        "A stream that failed has an answer, or one that ended well is logged as a failed attempt."
    0705 BAD_CHUNK_STREAM Warning "bad-chunk-stream"
        "A stream of chunks breaks the grammar: an unopened block, two usages, something behind finish."
    0710 CAPTURED_REQUEST_DIFFERS Error "captured-request-differs"
        "A captured request is not the one that the log describes."

    // 08 cache
    0801 PREFIX_BROKEN Note "prefix-broken"
        "A logged change broke the cached prefix between two requests."
    0802 CACHE_LOST Warning "cache-lost"
        "The reported usage shows a cache loss that the log does not explain."
    0803 VOLATILE_SYSTEM_TEXT Warning "volatile-system-text"
        "The same place of the system prompt changes again and again."
    0804 TOOL_ORDER_ONLY Warning "tool-order-only"
        "Two headers list the same tools in another order."
    0805 HEADER_FLAP Warning "header-flap"
        "A header changes and then changes back."
    0806 PREFIX_DRIFT_ON_RESUME Warning "prefix-drift-on-resume"
        "The header of a resumed session differs from its predecessor."
    0807 HIT_RATE_BELOW_BUDGET Error "hit-rate-below-budget"
        "The cache hit rate is below the configured budget."
    0808 USAGE_NOT_REPORTED Note "usage-not-reported"
        "No usage was reported, so cache hits cannot be checked."

    // 09 lineage
    0901 INHERITED_PREFIX_DIFFERS Error "inherited-prefix-differs"
        "The inherited events of a fork are not those of its parent log."
    0902 PARENT_NOT_FOUND Note "parent-not-found"
        "The parent of a fork is not among the inputs."
    0903 PATH_DOES_NOT_FIT Warning "path-does-not-fit"
        "The file's path names another session or project than its header."
}

/// Finds a rule by its code (`DSH0302`, `0302`, `302`) or its name (`legacy-header-delta`), in upper or lower case.
pub fn find(code_or_name: &str) -> Option<&'static Rule> {
    let wanted = code_or_name.trim();
    let by_name = || {
        CATALOGUE
            .iter()
            .copied()
            .find(|rule| rule.name.eq_ignore_ascii_case(wanted))
    };
    by_name().or_else(|| by_code(wanted))
}

/// Finds a rule by its code: three or four digits, or four digits behind `DSH`.
fn by_code(wanted: &str) -> Option<&'static Rule> {
    let (digits, fewest) = match wanted.split_at_checked(3) {
        Some((prefix, digits)) if prefix.eq_ignore_ascii_case("DSH") => (digits, 4),
        _ => (wanted, 3),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || !(fewest..=4).contains(&digits.len()) {
        return None;
    }
    let code = digits.parse().ok()?;
    let at = CATALOGUE
        .binary_search_by_key(&code, |rule| rule.code)
        .ok()?;
    CATALOGUE.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const HEADINGS: [&str; 5] = [
        "## What it checks",
        "## Why it matters",
        "## Example",
        "## What to do",
        "## Source",
    ];

    #[test]
    fn codes_ascend_and_names_are_kebab_and_unique() {
        assert!(CATALOGUE.is_sorted_by(|a, b| a.code < b.code));
        let names: BTreeSet<_> = CATALOGUE.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        for rule in CATALOGUE {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(rule.name.chars().all(kebab), "{}", rule.name);
        }
    }

    #[test]
    fn summaries_are_one_short_sentence() {
        for rule in CATALOGUE {
            let summary = rule.summary;
            assert!(summary.chars().count() <= 120, "{} is too long", rule.id());
            assert!(
                summary.ends_with('.') && !summary.contains(". "),
                "{}",
                rule.id()
            );
        }
    }

    #[test]
    fn pages_have_their_title_and_exactly_five_headings() {
        for rule in CATALOGUE {
            let title = rule.page.lines().next();
            assert_eq!(
                title,
                Some(format!("# {} {}", rule.id(), rule.name).as_str())
            );
            let headings: Vec<_> = outside_code(rule.page)
                .filter(|l| l.starts_with("##"))
                .collect();
            assert_eq!(headings, HEADINGS, "{}", rule.id());
        }
    }

    #[test]
    fn pages_are_short_enough_to_be_read_and_fit_a_terminal() {
        for rule in CATALOGUE {
            let id = rule.id();
            assert!(
                (500..4000).contains(&rule.page.len()),
                "{id} has {} bytes",
                rule.page.len()
            );
            assert!(
                rule.page.ends_with('\n') && !rule.page.ends_with("\n\n"),
                "{id} ends oddly"
            );
            for line in rule.page.lines() {
                assert!(line.chars().count() <= 100, "{id} has a long line: {line}");
                assert_eq!(line.trim_end(), line, "{id} has trailing spaces");
            }
        }
    }

    #[test]
    fn pages_show_their_own_code_with_a_message_of_at_most_90_characters() {
        for rule in CATALOGUE {
            let lead = format!("[{}]: ", rule.id());
            let mut messages = rule
                .page
                .lines()
                .filter_map(|line| line.split_once(lead.as_str()));
            let (level, message) = messages
                .next()
                .unwrap_or_else(|| panic!("{} shows no finding", rule.id()));
            assert!(
                ["note", "warning", "error"].contains(&level),
                "{}",
                rule.id()
            );
            assert!(
                message.chars().count() <= 90 && !message.ends_with('.'),
                "{}",
                rule.id()
            );
        }
    }

    #[test]
    fn every_page_belongs_to_a_rule() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/pages");
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(folder).expect("the folder of pages exists") {
            let name = entry.expect("the folder can be read").file_name();
            found.insert(name.to_string_lossy().into_owned());
        }
        let wanted: BTreeSet<_> = CATALOGUE
            .iter()
            .map(|rule| format!("{}.md", rule.id()))
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_rule_is_found_by_every_spelling_of_its_code_and_by_its_name() {
        for spelling in [
            "DSH0302",
            "dsh0302",
            "0302",
            "302",
            "legacy-header-delta",
            "Legacy-Header-Delta",
        ] {
            assert_eq!(find(spelling), Some(&LEGACY_HEADER_DELTA), "{spelling}");
        }
        for other in [
            "", "DSH", "DSH302", "DSH+302", "+302", "2", "00302", "0399", "DSH99999", "legacy",
            "äöü",
        ] {
            assert_eq!(find(other), None, "{other}");
        }
    }

    /// The lines of a page that are not inside a fenced block.
    fn outside_code(page: &str) -> impl Iterator<Item = &str> {
        let mut inside = false;
        page.lines().filter(move |line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
    }
}
