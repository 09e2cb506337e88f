//! Compactions: a bracket of start, summary, checkpoint and end.
//!
//! **Takes** the bracket's events. **Gives** compaction facts and what breaks the rules. **Never** derives messages.
//!
//! Source: format reference, B.1 (S-COMPACT) and B.2 (H-COMPACT); generations reference, sections 2.5 and 6.1.

use super::Fold;
use super::session::CompactionFact;
use crate::event::{Compaction, Event, Fault, Faults, Message, Role, Scope, Summary, Surface};
use crate::line::Seq;
use crate::record::{Kind as JsonKind, Raw};

#[derive(Debug, Default)]
pub(super) struct Compactions {
    open: Option<Open>,
    /// Whether an orphan may be open: a fault or a load lies behind its start.
    forgiven: bool,
}

#[derive(Debug)]
struct Open {
    id: Option<Vec<u8>>,
    turn: Option<u64>,
    summarised: bool,
}

impl Compactions {
    pub(super) fn forget(&mut self) {
        self.open = None;
        self.forgiven = true;
    }

    /// A load forgives an orphan.
    pub(super) fn loaded(&mut self) {
        self.open = None;
    }
}

fn printed(raw: Option<Raw<'_>>) -> Option<Vec<u8>> {
    raw.map(|raw| raw.printed().into_owned())
}

impl Fold<'_> {
    fn bad_compaction(&self, event: &Event<'_>, why: &'static str, faults: &mut Faults) {
        if self.synced {
            faults.note_value(
                Fault::Compaction(why),
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        }
    }

    pub(super) fn compaction_start(
        &mut self,
        event: &Event<'_>,
        compaction: &Compaction<'_>,
        faults: &mut Faults,
    ) {
        if self.compaction.open.is_some() {
            self.bad_compaction(event, "starts while one is open", faults);
        }
        if compaction
            .id
            .is_some_and(|id| id.text().is_none_or(|id| id.is_empty()))
        {
            self.bad_compaction(event, "has an empty compactionId", faults);
        }
        if compaction.turn != self.turns.open_number() {
            self.bad_compaction(event, "names another turn than the open one", faults);
        }
        self.compaction.forgiven = false;
        self.compaction.open = Some(Open {
            id: printed(compaction.id),
            turn: compaction.turn,
            summarised: false,
        });
    }

    pub(super) fn compaction_summary(
        &mut self,
        event: &Event<'_>,
        compaction: &Compaction<'_>,
        summary: &Summary<'_>,
        faults: &mut Faults,
    ) {
        let why = match &self.compaction.open {
            None if self.compaction.forgiven => None,
            None => Some("has a summary without a start"),
            Some(open) if open.id != printed(compaction.id) => {
                Some("has a summary with another compactionId")
            }
            Some(open) if open.summarised => Some("has a second summary"),
            Some(_) => None,
        };
        let tokens = compaction.data.get("shadowedTokenCount");
        let counts = tokens.is_none_or(|count| count.safe_int().is_some_and(|count| count >= 0));
        let uncounted = (!counts).then_some("has a shadowedTokenCount that is no whole number");
        if let Some(why) = why.or_else(|| self.shadows_wrongly(summary)).or(uncounted) {
            self.bad_compaction(event, why, faults);
        }
        if let Some(open) = &mut self.compaction.open {
            open.summarised = true;
        }
        let (seq, time, data) = (event.seq, event.time, self.kept(compaction.data));
        let (turn, step, header) = (
            self.turns.current(),
            self.turns.open_step(),
            self.headers.in_force(),
        );
        self.session.compactions.push(CompactionFact {
            seq,
            time,
            step,
            turn,
            header,
            data,
        });
    }

    /// Whether the summary's nodes are not a span of the surface.
    fn shadows_wrongly(&self, summary: &Summary<'_>) -> Option<&'static str> {
        let Some(list) = summary
            .shadowed
            .filter(|list| list.kind() == JsonKind::Array)
        else {
            return Some("has a summary without shadowedSeqs");
        };
        let seqs: Option<Vec<Seq>> = list
            .elements()
            .map(|raw| raw.safe_int().and_then(|n| u64::try_from(n).ok()).map(Seq))
            .collect();
        let Some(seqs) = seqs else {
            return Some("has shadowedSeqs that are no numbers");
        };
        let (Some(&first), Some(&last)) = (seqs.first(), seqs.last()) else {
            return Some("has a summary that shadows nothing");
        };
        let end = |name| {
            let raw = summary
                .range
                .and_then(|range| range.get(name))
                .and_then(Raw::safe_int);
            raw.and_then(|n| u64::try_from(n).ok()).map(Seq)
        };
        if (end("start"), end("end")) != (Some(first), Some(last)) {
            return Some("has a shadowedRange that is not the ends of shadowedSeqs");
        }
        if !self.surface_known {
            return None;
        }
        let span = self
            .surface
            .resolve(&self.session.messages, first, last)
            .unwrap_or_default();
        let span_seqs = span
            .iter()
            .filter_map(|message| self.session.messages.get(message.get()));
        if !span_seqs
            .map(|message| message.seq)
            .eq(seqs.iter().copied())
        {
            return Some("has shadowedSeqs that are not a span of the surface");
        }
        let head = self.surface.head();
        if self.conduct.protects_head && span.first().copied() == head {
            return Some("shadows the protected head");
        }
        None
    }

    pub(super) fn compaction_end(
        &mut self,
        event: &Event<'_>,
        compaction: &Compaction<'_>,
        faults: &mut Faults,
    ) {
        let why = match self.compaction.open.take() {
            None if self.compaction.forgiven => None,
            None => Some("ends without a start"),
            Some(open) if open.id != printed(compaction.id) => {
                Some("ends with another compactionId")
            }
            Some(open) if open.turn != compaction.turn => {
                Some("ends in another turn than it began")
            }
            Some(open) if !open.summarised && !compaction.failed => {
                Some("succeeds without a summary")
            }
            Some(_) => None,
        };
        if let Some(why) = why {
            self.bad_compaction(event, why, faults);
        }
    }

    /// A user message that stands for a summary must belong to the open compaction.
    pub(super) fn compaction_checkpoint(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        faults: &mut Faults,
    ) {
        let replaces = matches!(event.surface, Some(Surface::Replace { .. }));
        let Some(source) = message
            .source
            .filter(|_| message.role == Role::User && replaces)
        else {
            return;
        };
        let is = |name: &str, word: &str| source.get(name).is_some_and(|raw| raw.is_str(word));
        let checkpoint =
            is("kind", "compact-checkpoint") || (is("kind", "plugin") && is("plugin", "compact"));
        let Some(id) = source.get("compactionId").filter(|_| checkpoint) else {
            return;
        };
        let why = match &self.compaction.open {
            None if self.compaction.forgiven => None,
            None => Some("has a checkpoint and is not open"),
            Some(open) if open.id.as_deref() != Some(&id.printed()[..]) => {
                Some("has a checkpoint with another compactionId")
            }
            Some(_) => None,
        };
        if let Some(why) = why {
            self.bad_compaction(event, why, faults);
        }
    }

    /// A turn starts or ends: no compaction may be open, unless crash repair closes its turn.
    pub(super) fn compaction_crossed(
        &mut self,
        event: &Event<'_>,
        repaired: bool,
        faults: &mut Faults,
    ) {
        if self.compaction.open.take().is_some() && !repaired {
            self.bad_compaction(event, "is open where a turn starts or ends", faults);
        }
    }
}
