//! Whether an answer says what its chunks gave.
//!
//! **Takes** a response that was put together, and the message that claims it. **Gives** faults. **Never** changes either.
//!
//! Source: format reference, section G; B.2 (H-STREAM, H-MSG-W).

use super::response::Response;
use super::turn_facts::Finish;
use crate::event::{Event, Fault, Faults, Message, Scope};
use crate::line::{Excerpt, Seq};
use crate::record::{Raw, SourceSeqs};

/// A response beside its message.
pub(super) struct Answered<'r, 'line> {
    pub(super) response: &'r Response,
    pub(super) event: &'r Event<'line>,
    pub(super) message: &'r Message<'line>,
    /// Whether chunks may be missing.
    pub(super) partial: bool,
    /// Whether the message names the seqs of its chunks.
    pub(super) cites_chunks: bool,
}

/// A fault, and the value that shows it.
type Found<'line> = Option<(Fault, Raw<'line>)>;

impl<'line> Answered<'_, 'line> {
    /// Notes each way in which the message differs.
    pub(super) fn check(&self, faults: &mut Faults) {
        let data = self.message.data;
        let failed = matches!(self.response.ended(), Finish::Failed { .. });
        if failed && !self.message.interrupted {
            return self.note(Some((Fault::ResponseAfterFailure, data)), faults);
        }
        let content = difference(self.response, self.message, self.partial);
        let content = content.map(|fault| (fault, self.message.content.unwrap_or(data)));
        self.note(content, faults);
        if self.partial {
            return;
        }
        self.note(self.replay_state(), faults);
        self.note(self.usage(), faults);
        if self.cites_chunks {
            self.note(self.sources(), faults);
        }
    }

    fn note(&self, found: Found<'_>, faults: &mut Faults) {
        if let Some((fault, raw)) = found {
            faults.note_value(fault, Scope::Any, self.event.at, self.event.value, raw);
        }
    }

    fn replay_state(&self) -> Found<'line> {
        let source = self.message.source;
        let logged = source.and_then(|source| source.get("replayState"));
        let streamed = self.response.replay_state(self.message.interrupted);
        if logged.map(Raw::printed).as_deref() == streamed.as_deref() {
            return None;
        }
        let fault = Fault::Response {
            pointer: "/source/replayState".to_owned(),
            logged: logged.map(|raw| short(raw.bytes())).unwrap_or_default(),
            assembled: streamed.map(|text| short(&text)).unwrap_or_default(),
        };
        Some((fault, logged.or(source).unwrap_or(self.message.data)))
    }

    fn usage(&self) -> Found<'line> {
        let logged = self.message.usage;
        let same = match (logged, self.response.usage().map(Raw::parse)) {
            (None, None) => true,
            (None, Some(_)) => self.message.interrupted,
            (Some(logged), Some(Ok(streamed))) => logged.deep_eq(streamed),
            (Some(_), _) => false,
        };
        (!same).then(|| (Fault::Usage, logged.unwrap_or(self.message.data)))
    }

    fn sources(&self) -> Found<'line> {
        let seq = sources_differ(self.response, self.event)?;
        let value = self.event.value;
        let cited = value.get("sourceEventSeqs").unwrap_or(value);
        Some((Fault::ChunkSources { seq }, cited))
    }
}

/// The first difference between a message's content and what its chunks give.
fn difference(response: &Response, message: &Message<'_>, partial: bool) -> Option<Fault> {
    let blocks = response.blocks(message.interrupted);
    let content = message.content?;
    let mut logged = content.elements();
    let mut at = 0;
    for (assembled, closed) in blocks {
        if partial && !closed {
            return None;
        }
        let found = logged.next();
        let same = found
            .is_some_and(|raw| raw.bytes() == &assembled[..] || *raw.printed() == assembled[..]);
        if !same && !partial {
            return Some(response_fault(at, found, Some(&assembled)));
        }
        if !same && found.is_some() && partial {
            return partial_difference(content, &assembled, at);
        }
        at += 1;
    }
    match logged.next() {
        Some(extra) if !partial => Some(response_fault(at, Some(extra), None)),
        _ => None,
    }
}

/// Where chunks are missing, a closed block must still stand somewhere in the message.
fn partial_difference(content: Raw<'_>, assembled: &[u8], at: usize) -> Option<Fault> {
    let stands = content.elements().any(|raw| *raw.printed() == *assembled);
    (!stands).then(|| response_fault(at, content.elements().nth(at), Some(assembled)))
}

fn response_fault(at: usize, logged: Option<Raw<'_>>, assembled: Option<&[u8]>) -> Fault {
    Fault::Response {
        pointer: format!("/{at}"),
        logged: logged.map(|raw| short(raw.bytes())).unwrap_or_default(),
        assembled: assembled.map(short).unwrap_or_default(),
    }
}

fn short(bytes: &[u8]) -> String {
    Excerpt::around(bytes, 0..0).text
}

/// The first seq in which a message's sources differ from its chunks.
fn sources_differ(response: &Response, event: &Event<'_>) -> Option<Seq> {
    let cited: Vec<(Seq, Seq)> = event.sources.iter().flat_map(SourceSeqs::runs).collect();
    let chunks = response.seqs();
    if cited == chunks {
        return None;
    }
    let pair = cited
        .iter()
        .zip(chunks)
        .find(|(cited, chunk)| cited != chunk);
    Some(match pair {
        Some((cited, chunk)) if cited.0 != chunk.0 => cited.0.min(chunk.0),
        Some((cited, chunk)) => Seq(cited.1.min(chunk.1).0 + 1),
        None => cited
            .get(chunks.len())
            .or(chunks.get(cited.len()))
            .map_or(event.seq, |run| run.0),
    })
}
