//! Calls of the provider that are not the loop's: summaries of a compaction, titles, web searches.
//!
//! **Takes** a session and its settlement. **Gives** the calls that can be rebuilt, in order. **Never** counts one as a request.
//!
//! Source: format reference, section D.4; generations reference, section 6.

use std::io::{self, Write};

use super::message::{Identity, derive_event_message};
use super::walk::Requests;
use crate::dialect::{Derivation, Derived, Interface, Settlement};
use crate::event::{OneShot, Role};
use crate::fold::{
    CompactionFact, HeaderFact, HeaderIx, MessageIx, OneShotFact, Session, StepIx, TurnIx,
    header_part,
};
use crate::line::Seq;
use crate::record::{Raw, print_str};

/// What a summary is asked with: the same in every build from 0.1.1 on.
const INSTRUCTION: &str = include_str!("compaction-instruction.txt");

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A summary of a part of the history.
    Compaction,
    /// A title for the session.
    Title,
    /// A web search.
    Search,
}

impl Purpose {
    /// Its word in output.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Compaction => "compaction",
            Purpose::Title => "session-title",
            Purpose::Search => "web-search",
        }
    }
}

/// What [`Calls`] are made of.
#[derive(Clone, Copy, Debug)]
pub struct CallsOf<'s, 'log> {
    /// The session.
    pub session: &'s Session<'log>,
    /// Its settlement.
    pub settlement: &'s Settlement,
    /// What its builds speak with the provider.
    pub interface: Interface,
    /// The session's id, as it stands in the header line.
    pub session_id: Raw<'log>,
    /// The parent session's.
    pub parent_id: Option<Raw<'log>>,
    /// Events with a smaller number are the parent session's.
    pub inherited_until: Seq,
}

/// Walks the calls of a log, in order.
#[derive(Debug)]
pub struct Calls<'s, 'log> {
    of: CallsOf<'s, 'log>,
    walk: Requests<'s, 'log>,
    left: std::vec::IntoIter<Fact<'s, 'log>>,
    unknown: usize,
}

#[derive(Clone, Copy, Debug)]
enum Fact<'s, 'log> {
    Compaction(&'s CompactionFact<'log>),
    OneShot(&'s OneShotFact<'log>),
}

impl Fact<'_, '_> {
    fn seq(&self) -> Seq {
        match self {
            Fact::Compaction(fact) => fact.seq,
            Fact::OneShot(fact) => fact.seq,
        }
    }
}

/// A call.
#[derive(Debug)]
pub struct Call<'r, 'log> {
    of: &'r CallsOf<'r, 'log>,
    walk: &'r Requests<'r, 'log>,
    fact: Fact<'r, 'log>,
    derived: Option<&'r Derived>,
}

impl<'s, 'log> Calls<'s, 'log> {
    /// The calls of a log.
    pub fn new(of: CallsOf<'s, 'log>) -> Calls<'s, 'log> {
        let session = of.session;
        let stop = of.settlement.stop.map_or(Seq(u64::MAX), |stop| stop.seq);
        let summaries = session.compactions.iter().filter(|fact| fact.seq < stop);
        let (known, unknown): (Vec<_>, Vec<_>) =
            summaries.partition(|fact| is_known(fact, derived_at(&of, fact.seq)));
        let one_shots = session.one_shots.iter().filter(|fact| fact.seq < stop);
        let mut facts: Vec<Fact<'s, 'log>> = known.into_iter().map(Fact::Compaction).collect();
        facts.extend(one_shots.map(Fact::OneShot));
        facts.sort_by_key(Fact::seq);
        Calls {
            walk: Requests::new(session, &[], of.session_id, of.parent_id),
            of,
            left: facts.into_iter(),
            unknown: unknown.len(),
        }
    }

    /// How many summaries cannot be rebuilt: their builds used prompts of their own.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// The number of the next call's event.
    pub fn next_seq(&self) -> Option<Seq> {
        self.left.as_slice().first().map(Fact::seq)
    }

    /// The next call. It borrows the walk: ask for the next one when done with it.
    pub fn next_call(&mut self) -> Option<Call<'_, 'log>> {
        let fact = self.left.next()?;
        self.walk.advance(fact.seq());
        Some(Call {
            derived: derived_at(&self.of, fact.seq()),
            of: &self.of,
            walk: &self.walk,
            fact,
        })
    }
}

/// Whether a summary was asked with [`INSTRUCTION`], behind the conversation's own messages.
fn is_known(fact: &CompactionFact<'_>, derived: Option<&Derived>) -> bool {
    let is_stream = fact.data.get("llmStreamCall").and_then(Raw::as_bool) == Some(true);
    is_stream && derived.is_none_or(|derived| derived.derivation == Derivation::Identified)
}

/// The last request before a call, else the first one behind it: the build that sent it made the call.
fn derived_at<'s>(of: &CallsOf<'s, '_>, seq: Seq) -> Option<&'s Derived> {
    let requests = &of.settlement.requests;
    let before = requests
        .iter()
        .rev()
        .find(|request| request.boundary <= seq);
    before.or(requests.first())
}

impl<'r, 'log> Call<'r, 'log> {
    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        match self.fact {
            Fact::Compaction(_) => Purpose::Compaction,
            Fact::OneShot(fact) => match fact.kind {
                OneShot::Title => Purpose::Title,
                OneShot::Search => Purpose::Search,
            },
        }
    }

    /// The number of its event.
    pub fn seq(&self) -> Seq {
        self.fact.seq()
    }

    /// The turn it stands in.
    pub fn turn(&self) -> Option<TurnIx> {
        match self.fact {
            Fact::Compaction(fact) => fact.turn,
            Fact::OneShot(fact) => fact.turn,
        }
    }

    /// The step it stands in.
    pub fn step(&self) -> Option<StepIx> {
        match self.fact {
            Fact::Compaction(fact) => fact.step,
            Fact::OneShot(fact) => fact.step,
        }
    }

    /// The header whose tools it repeats.
    pub fn header(&self) -> Option<HeaderIx> {
        match self.fact {
            Fact::Compaction(fact) => fact.header,
            Fact::OneShot(_) => None,
        }
    }

    /// Whether the parent session made it.
    pub fn is_inherited(&self) -> bool {
        self.seq() < self.of.inherited_until
    }

    /// Whether [`Call::write_options`] is exact. A summary before version 4 is not: its last message had a random id, which is left
    /// out.
    pub fn is_exact(&self) -> bool {
        self.purpose() != Purpose::Compaction || self.of.interface == Interface::Messages
    }

    /// Writes the options object, as the harness prints it.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_options(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.fact {
            Fact::Compaction(fact) => self.summary(fact, out),
            Fact::OneShot(fact) if fact.kind == OneShot::Search => {
                fact.data.get("body").unwrap_or(fact.data).print(out)
            }
            Fact::OneShot(fact) => self.title(fact.data, out),
        }
    }

    fn title(&self, data: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
        let route = data.get("route").unwrap_or(Raw::NULL);
        let of_route = [
            ("provider", route.get("provider")),
            ("model", route.get("model")),
        ];
        let of_data = |name: &'static str| (name, data.get(name));
        let mut members = Vec::with_capacity(6);
        if self.of.interface == Interface::Messages {
            members.extend([of_data("maxTokens"), of_data("reasoningEffort")]);
            members.extend(of_route);
            members.extend([of_data("messages"), of_data("system")]);
        } else {
            members.extend(of_route);
            members.extend(["messages", "system", "maxTokens"].map(of_data));
        }
        out.write_all(b"{")?;
        for (name, value) in members {
            if let Some(value) = value {
                write!(out, "\"{name}\":")?;
                value.print(out)?;
                out.write_all(b",")?;
            }
        }
        self.end(out)
    }

    fn summary(&self, fact: &CompactionFact<'log>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{")?;
        for name in ["provider", "model"] {
            if let Some(value) = fact.data.get(name) {
                write!(out, "\"{name}\":")?;
                value.print(out)?;
                out.write_all(b",")?;
            }
        }
        out.write_all(b"\"messages\":[")?;
        for message in self.head().into_iter().chain(self.shadowed(fact)) {
            self.message(message, out)?;
        }
        self.instruction(out)?;
        out.write_all(b"],")?;
        if self.of.interface == Interface::Messages {
            out.write_all(b"\"toolHistory\":")?;
            self.walk.print_tool_history(out)?;
            out.write_all(b",")?;
        }
        let header = fact
            .header
            .and_then(|header| self.of.session.headers.get(header.get()));
        let part =
            |name| header.and_then(|header: &HeaderFact<'log>| header_part(header.raw, name));
        let members = [
            ("system", part("system")),
            ("tools", part("tools")),
            ("maxTokens", fact.data.get("maxTokens")),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                write!(out, "\"{name}\":")?;
                value.print(out)?;
                out.write_all(b",")?;
            }
        }
        self.end(out)
    }

    /// The system prompt, where it is a message.
    fn head(&self) -> Option<MessageIx> {
        let head = *self.walk.live().first()?;
        let fact = self.of.session.messages.get(head.get())?;
        (fact.role == Role::System).then_some(head)
    }

    /// The messages that the summary stands for, in the surface's order.
    fn shadowed(&self, fact: &CompactionFact<'log>) -> Vec<MessageIx> {
        let messages = &self.of.session.messages;
        let seqs = fact.data.get("shadowedSeqs");
        let seqs = seqs.into_iter().flat_map(Raw::elements);
        seqs.filter_map(|seq| {
            let seq = Seq(u64::try_from(seq.safe_int()?).ok()?);
            let at = messages.binary_search_by_key(&seq, |message| message.seq);
            Some(MessageIx(u32::try_from(at.ok()?).ok()?))
        })
        .collect()
    }

    /// Writes a message with a comma behind it, if it derives to one.
    fn message(&self, message: MessageIx, mut out: &mut dyn Write) -> io::Result<()> {
        let identity = Identity {
            derivation: Derivation::Identified,
            tags: false,
            steering_first: self.derived.is_some_and(|derived| derived.steering_first),
            session_id: self.of.session_id,
        };
        let offloaded = self.walk.offloaded(message);
        let session = self.of.session;
        if derive_event_message(session, message, &identity, offloaded, &mut out)? {
            out.write_all(b",")?;
        }
        Ok(())
    }

    fn instruction(&self, out: &mut dyn Write) -> io::Result<()> {
        let is_bare = self.of.interface == Interface::Messages;
        out.write_all(if is_bare {
            b"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
        } else {
            b"{\"content\":[{\"type\":\"text\",\"text\":"
        })?;
        print_str(INSTRUCTION, out)?;
        out.write_all(if is_bare {
            b"}]}"
        } else {
            b"}],\"source\":{\"kind\":\"plugin\",\"plugin\":\"dsh-compaction-basic\"},\"role\":\"user\"}"
        })
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\"sessionId\":")?;
        let id = match self.of.parent_id {
            Some(parent) if self.is_inherited() => parent,
            _ => self.of.session_id,
        };
        id.print(out)?;
        write!(out, ",\"purpose\":\"{}\"}}", self.purpose().word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::digest_of_bytes;

    #[test]
    fn the_instruction_is_the_one_that_was_sent() {
        assert_eq!(INSTRUCTION.chars().count(), 1802);
        assert_eq!(
            digest_of_bytes(INSTRUCTION.as_bytes()),
            "3b7aa71f525b9a82afc2f1747c4434ceb7b3bc1fadf8b64c37c4e97db70d074b"
        );
    }
}
