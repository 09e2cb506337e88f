//! What is said of a request whose prefix broke or was lost: what the log shows, what coincides, and what may be.
//!
//! **Takes** a [`CacheRow`]. **Gives** statements in plain English, each with its certainty; text of the log in them is
//! harmless already. **Never** calls a cause what only stands at the same place.

use crate::analyse::answer::{Break, CacheRow, CacheVerdict, Cause, ReplaceKind, SegmentName};
use crate::analyse::fleet::Bust;
use crate::finding::Certainty;
use crate::line::Millis;

use super::super::columns::cut_end;
use super::super::safe::Safe;
use super::super::words::grouped;
use super::numbers::{share, span};

/// One sentence, and how sure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// How sure.
    pub(super) certainty: Certainty,
    /// The sentence: lower-case start, no full stop.
    pub(super) text: String,
}

/// What no log can show. Every report ends with it.
pub(super) const NOT_SHOWN: [&str; 3] = [
    "gateways that rotate accounts, each with a cache of its own",
    "evictions on the provider's side",
    "plugins that alter a request after it was logged",
];

/// Idle time from which an eviction is worth a word.
const LONG_IDLE: Millis = Millis(5 * 60 * 1000);

/// The most columns of a name that a log gave.
const NAME_COLUMNS: usize = 48;

/// A request's name, as `--step` takes it: `2.1`, and `2.1.3` for a further attempt.
pub(super) fn request(row: &CacheRow) -> String {
    match row.attempt {
        1 => format!("{}.{}", row.turn, row.step),
        attempt => format!("{}.{}.{attempt}", row.turn, row.step),
    }
}

/// `896 tokens lost`: what an intact prefix would have read from the cache and this one did not.
pub(super) fn loss(row: &CacheRow) -> String {
    match row.lost {
        None => "loss not known".into(),
        Some(0) => "no tokens lost".into(),
        Some(lost) => format!("{} tokens lost", grouped(lost)),
    }
}

/// The cause in the word that every format uses.
pub(super) fn cause_word(row: &CacheRow) -> &'static str {
    let cause = row.broken.as_ref().map(|broken| &broken.cause);
    cause.unwrap_or(&Cause::Unexplained).as_str()
}

/// The cause in a few words, for a column of a table: `system text`. Empty where there is none.
pub(super) fn cause(row: &CacheRow) -> String {
    match (&row.broken, row.verdict) {
        (Some(broken), _) => short(&broken.cause),
        (None, CacheVerdict::Lost) => "unexplained".into(),
        (None, _) => String::new(),
    }
}

fn short(cause: &Cause) -> String {
    let name = |text: &str| Safe(text).to_string();
    match cause {
        Cause::Provider { .. } => "another provider".into(),
        Cause::Model { to, .. } => format!("model {}", name(to)),
        Cause::Config { members } => format!("config {}", name(&members.join(", "))),
        Cause::SystemText => "system text".into(),
        Cause::ToolAdded(tool) => format!("tool added: {}", name(tool)),
        Cause::ToolRemoved(tool) => format!("tool removed: {}", name(tool)),
        Cause::ToolChanged(tool) => format!("tool changed: {}", name(tool)),
        Cause::ToolsMoved(tool) => format!("tools moved: {}", name(tool)),
        Cause::SessionPrefix => "session prefix".into(),
        Cause::Replace { kind, .. } => match kind {
            ReplaceKind::Compaction => "compaction",
            ReplaceKind::PrunedResult => "pruned result",
            ReplaceKind::SystemHead => "system replaced",
            ReplaceKind::Other => "replaced events",
        }
        .into(),
        Cause::Offload => "images left out".into(),
        Cause::Redacted => "redacted header".into(),
        Cause::Dialect => "another build".into(),
        Cause::Unexplained => "unexplained".into(),
    }
}

/// How sure it is that the named cause explains the loss. Absent where there is no bust.
pub(super) fn certainty(row: &CacheRow) -> Option<Certainty> {
    if !row.is_bust() {
        return None;
    }
    let is_redacted = matches!(&row.broken, Some(broken) if broken.cause == Cause::Redacted);
    Some(match (row.certain_break(), row.hit) {
        _ if row.verdict == CacheVerdict::Contradicted => Certainty::Possible,
        (Some(_), Some(_)) => Certainty::Coincident,
        // Nothing is known of the loss, but the break itself stands in the log.
        (Some(_), None) => Certainty::Observed,
        (None, _) if is_redacted => Certainty::Coincident,
        (None, _) => Certainty::Possible,
    })
}

/// All that is said of a bust, the surest first.
pub(super) fn tell(bust: &Bust<'_>) -> Vec<Statement> {
    let row = bust.row;
    let mut said = Vec::new();
    match &row.broken {
        Some(broken) => tell_break(row, broken, &mut said),
        None => tell_loss(row, &mut said),
    }
    if let Some(earlier) = bust.earlier {
        let text = format!(
            "more of it stays of request {} than of the one before",
            request(earlier)
        );
        say(&mut said, Certainty::Observed, text);
    }
    if let Some(lost) = row.lost_of_the_rest() {
        let rest = match bust.earlier {
            Some(earlier) => format!("what stays of request {}", request(earlier)),
            None => "the part that stays".into(),
        };
        let lost = grouped(lost);
        let text = format!(
            "about {lost} of the tokens lost are of {rest}: the change does not explain them"
        );
        say(&mut said, Certainty::Coincident, text);
    }
    said.sort_by_key(|statement| statement.certainty);
    said
}

/// Both sides of the first difference, harmless. Absent where there is none, or where a sentence says both already.
pub(super) fn sides(row: &CacheRow) -> Option<(String, String)> {
    let broken = row.broken.as_ref()?;
    let is_said = broken.segment == SegmentName::Route;
    let is_empty = broken.before.is_empty() && broken.after.is_empty();
    (!is_said && !is_empty).then(|| {
        (
            Safe(&broken.before).to_string(),
            Safe(&broken.after).to_string(),
        )
    })
}

fn say(said: &mut Vec<Statement>, certainty: Certainty, text: impl Into<String>) {
    let text = text.into();
    said.push(Statement { certainty, text });
}

fn tell_break(row: &CacheRow, broken: &Break, said: &mut Vec<Statement>) {
    use Certainty::{Coincident, Observed, Possible};
    say(said, Observed, sentence(broken));
    if broken.cause.is_certain() && row.prompt_bytes > 0 {
        let text = match row.kept_bytes {
            0 => "nothing of the prompt stays".into(),
            bytes => format!(
                "{} of the prompt stays, up to {}",
                share(bytes, row.prompt_bytes),
                place(broken)
            ),
        };
        say(said, Observed, text);
    }
    if broken.on_resume {
        say(said, Coincident, "the session was resumed at this request");
    }
    match (row.verdict, row.usage()) {
        (CacheVerdict::Contradicted, Some((prompt, hit))) => {
            let text = format!(
                "hit {} of {}, more than the kept part allows",
                grouped(hit),
                grouped(prompt)
            );
            say(said, Observed, text);
            let doubt = "the log, or what is rebuilt from it, is wrong here";
            say(said, Possible, doubt);
        }
        (_, Some((prompt, hit))) if broken.cause.is_certain() => {
            say(said, Coincident, fallen(row, prompt, hit));
        }
        (_, Some((prompt, hit))) if broken.cause == Cause::Redacted => {
            say(said, Coincident, fallen(row, prompt, hit));
            say(
                said,
                Possible,
                "the change that cannot be seen broke the prefix",
            );
        }
        (_, Some((prompt, hit))) => {
            let text = format!("the provider caches by it; {}", fallen(row, prompt, hit));
            say(said, Possible, text);
        }
        (_, None) => say(
            said,
            Observed,
            "usage was not reported: the loss is not known",
        ),
    }
    tell_idle(row, said);
}

fn fallen(row: &CacheRow, prompt: u64, hit: u64) -> String {
    let fallen = format!("hit {} of {}", grouped(hit), grouped(prompt));
    match row.lost {
        Some(lost) if lost > 0 => format!(
            "{fallen}, where an intact prefix gives {}",
            grouped(hit.saturating_add(lost))
        ),
        _ => fallen,
    }
}

fn tell_loss(row: &CacheRow, said: &mut Vec<Statement>) {
    say(
        said,
        Certainty::Observed,
        "the prompt before begins this one, byte for byte: no event explains a loss",
    );
    if let Some((prompt, hit)) = row.usage() {
        let due = row.expected.map_or(String::new(), |window| {
            format!("; {} were due", range(window.low, window.high))
        });
        let text = format!("hit {} of {}{due}", grouped(hit), grouped(prompt));
        say(said, Certainty::Observed, text);
    }
    tell_idle(row, said);
    if row.idle.is_none_or(|idle| idle < LONG_IDLE) {
        let text = "an eviction, another account, or a request altered after it was logged";
        say(said, Certainty::Possible, text);
    }
}

fn tell_idle(row: &CacheRow, said: &mut Vec<Statement>) {
    let is_lost = row.lost != Some(0);
    if let Some(idle) = row.idle.filter(|idle| is_lost && *idle >= LONG_IDLE) {
        let text = format!(
            "{} idle before it: the entry may have been evicted",
            span(idle)
        );
        say(said, Certainty::Possible, text);
    }
}

fn range(low: u64, high: u64) -> String {
    match low == high {
        true => grouped(low),
        false => format!("{} to {}", grouped(low), grouped(high)),
    }
}

/// What the log shows of a break.
fn sentence(broken: &Break) -> String {
    let name = |text: &str| format!("\"{}\"", cut_end(&Safe(text).to_string(), NAME_COLUMNS));
    let byte = grouped(broken.byte);
    match &broken.cause {
        Cause::Provider { from, to } => {
            format!("the provider was {} and is {}", name(from), name(to))
        }
        Cause::Model { from, to } => format!("the model was {} and is {}", name(from), name(to)),
        Cause::Config { members } => format!("the config differs in {}", name(&members.join(", "))),
        Cause::SystemText => format!("the system prompt, as sent, differs from byte {byte} on"),
        Cause::ToolAdded(tool) => format!("tool {} was added", name(tool)),
        Cause::ToolRemoved(tool) => format!("tool {} was removed", name(tool)),
        Cause::ToolChanged(tool) => {
            format!("tool {}, as sent, differs from byte {byte} on", name(tool))
        }
        Cause::ToolsMoved(tool) => {
            format!(
                "the same tools stand in another order, from {} on",
                name(tool)
            )
        }
        Cause::SessionPrefix => format!("{}, as sent, differs from byte {byte} on", place(broken)),
        Cause::Replace { kind, range } => {
            let (first, last) = (range.0.0, range.1.0);
            // Ends of a span of the surface, which does not go by number: a summary that stands for older events comes first.
            let events = match first == last {
                true => format!("event {first}"),
                false => format!("the messages from event {first} to event {last}"),
            };
            match kind {
                ReplaceKind::Compaction => format!("a compaction took the place of {events}"),
                ReplaceKind::PrunedResult => format!("a pruned result took the place of {events}"),
                ReplaceKind::SystemHead => {
                    format!("a new system prompt took the place of {events}")
                }
                ReplaceKind::Other => format!("a message took the place of {events}"),
            }
        }
        Cause::Offload => "images were left out of earlier messages".into(),
        Cause::Redacted => "a header was logged that differs, and its text is redacted".into(),
        Cause::Dialect => "another build of the harness derives the messages otherwise".into(),
        Cause::Unexplained => format!("{} differs, and no event says why", place(broken)),
    }
}

/// Where the prefix ends.
fn place(broken: &Break) -> String {
    match &broken.segment {
        SegmentName::Route => "the route".into(),
        SegmentName::System => "the system prompt".into(),
        SegmentName::Tool(tool) => {
            format!(
                "tool \"{}\"",
                cut_end(&Safe(tool).to_string(), NAME_COLUMNS)
            )
        }
        SegmentName::Prefix(at) => {
            format!("message {} of the session prefix", at.saturating_add(1))
        }
        SegmentName::Message(_, Some(seq)) => format!("the message of event {seq}"),
        SegmentName::Message(at, None) => {
            format!("message {} of the history", at.saturating_add(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::sample;
    use crate::analyse::fleet;

    fn told(turn: u64, step: u64) -> Vec<(&'static str, String)> {
        let report = sample::eventful("");
        let busts = fleet::busts(&[&report]);
        let bust = busts
            .iter()
            .find(|bust| (bust.row.turn, bust.row.step) == (turn, step))
            .expect("a bust of the sample");
        tell(bust)
            .into_iter()
            .map(|said| (said.certainty.as_str(), said.text))
            .collect()
    }

    fn texts(said: &[(&'static str, String)]) -> Vec<String> {
        said.iter()
            .map(|(certainty, text)| format!("{certainty}: {text}"))
            .collect()
    }

    #[test]
    fn a_break_is_observed_and_its_effect_coincides() {
        assert_eq!(
            texts(&told(2, 1)),
            [
                "observed: the system prompt, as sent, differs from byte 118 on",
                "observed: nothing of the prompt stays",
                "coincident: hit 0 of 10,400, where an intact prefix gives 10,112",
            ]
        );
    }

    #[test]
    fn a_return_to_an_earlier_prompt_is_told() {
        let mut report = sample::eventful("");
        let first = report.rows.iter().position(|row| row.turn == 1);
        for row in report.rows.iter_mut().filter(|row| row.turn == 2) {
            row.best_earlier = first;
        }
        let busts = fleet::busts(&[&report]);
        let bust = busts.iter().find(|bust| bust.row.turn == 2).expect("one");
        let told = tell(bust);
        assert!(told.iter().any(|said| {
            said.text == "more of it stays of request 1.1 than of the one before"
                && said.certainty == Certainty::Observed
        }));
    }

    #[test]
    fn a_loss_without_cause_is_only_hinted_at() {
        assert_eq!(
            texts(&told(4, 1)),
            [
                "observed: the prompt before begins this one, byte for byte: no event explains a loss",
                "observed: hit 0 of 13,000; 12,800 to 12,928 were due",
                "possible: 14 h idle before it: the entry may have been evicted",
            ]
        );
    }

    #[test]
    fn a_contradiction_doubts_the_log() {
        let said = told(4, 5);
        let last = said
            .last()
            .map(|(certainty, text)| (*certainty, text.as_str()));
        assert_eq!(
            last,
            Some((
                "possible",
                "the log, or what is rebuilt from it, is wrong here"
            ))
        );
    }

    #[test]
    fn a_break_does_not_explain_what_is_lost_of_the_part_that_stays() {
        let mut report = sample::eventful("");
        let row = report.rows.iter_mut().find(|row| row.turn == 2);
        let row = row.expect("a row of the sample");
        let window = row.expected.as_mut().expect("a broken request has one");
        window.high = 6_400;
        let said = |report: &_| {
            let busts = fleet::busts(&[report]);
            let bust = busts
                .iter()
                .find(|bust| (bust.row.turn, bust.row.step) == (2, 1))
                .expect("one");
            tell(bust).into_iter().any(|said| {
                said.text
                    .starts_with("about 6,400 of the tokens lost are of the part that stays")
            })
        };
        assert!(said(&report));
        let row = report.rows.iter_mut().find(|row| row.turn == 2);
        row.expect("the same").hit = Some(5_000);
        assert!(!said(&report), "bytes and tokens may differ that much");
    }

    #[test]
    fn every_bust_and_no_other_request_has_a_certainty() {
        for row in sample::eventful("").rows {
            assert_eq!(
                certainty(&row).is_some(),
                row.is_bust(),
                "{}",
                request(&row)
            );
        }
    }
}
