//! Why a prefix broke: the first cause that the log shows, in the order of the provider's prompt.
//!
//! **Takes** two consecutive requests and where their prompts part. **Gives** a [`Break`]. **Never** invents a cause: what the log
//! does not explain is said to be so.
//!
//! Source: cache model, "Prediction from the log".

use std::collections::{BTreeMap, BTreeSet};

use super::super::answer::{Break, Cause, ReplaceKind, SegmentName};
use super::excerpt;
use crate::dialect::Derived;
use crate::event::Role;
use crate::fold::{
    HeaderFact, HeaderReason, MessageIx, OpKind, Session, SurfaceOp, header_equals, header_part,
};
use crate::line::Seq;
use crate::record::Raw;
use crate::wire;

/// Two consecutive requests.
#[derive(Clone, Copy)]
pub(super) struct Pair<'s, 'log> {
    pub(super) session: &'s Session<'log>,
    pub(super) before: &'s Derived,
    pub(super) now: &'s Derived,
}

impl<'s, 'log> Pair<'s, 'log> {
    fn header(&self, derived: &Derived) -> Option<&'s HeaderFact<'log>> {
        self.session.headers.get(derived.header.get())
    }

    fn headers(&self) -> Option<(&'s HeaderFact<'log>, &'s HeaderFact<'log>)> {
        Some((self.header(self.before)?, self.header(self.now)?))
    }

    /// Whether another provider or model is asked: nothing of the cache is kept.
    pub(super) fn route(&self) -> Option<Break> {
        if self.before.header == self.now.header {
            return None;
        }
        let (before, now) = self.headers()?;
        let member = |header: &HeaderFact<'log>, name| {
            header
                .raw
                .get("config")
                .and_then(|config| config.get(name))
                .map(shown)
                .unwrap_or_default()
        };
        let differs = |name| {
            let (from, to) = (member(before, name), member(now, name));
            (from != to).then_some((from, to))
        };
        let (cause, (from, to)) = match (differs("provider"), differs("model")) {
            (Some(pair), _) => (
                Cause::Provider {
                    from: pair.0.clone(),
                    to: pair.1.clone(),
                },
                pair,
            ),
            (None, Some(pair)) => (
                Cause::Model {
                    from: pair.0.clone(),
                    to: pair.1.clone(),
                },
                pair,
            ),
            (None, None) => return None,
        };
        Some(self.by_header(SegmentName::Route, 0, cause, (from, to)))
    }

    /// Members of the config that differ beside the route: they may matter, and mostly do not.
    pub(super) fn config(&self) -> Option<Break> {
        let (before, now) = self.headers()?;
        let config = |header: &HeaderFact<'log>| header.raw.get("config");
        let (before, now) = (config(before)?, config(now)?);
        let keys = before.members().chain(now.members());
        let keys: Vec<String> = keys.map(|(key, _)| shown(key)).collect();
        let (before, now) = (by_name(before), by_name(now));
        let mut met: BTreeSet<&str> = BTreeSet::new();
        let mut members: Vec<String> = Vec::new();
        for name in &keys {
            let same = match (before.get(name), now.get(name)) {
                (Some(a), Some(b)) => a.same_text(*b),
                _ => false,
            };
            if met.insert(name) && !same {
                members.push(name.clone());
            }
        }
        let first = members.first()?;
        let value = |config: &BTreeMap<String, Raw<'log>>| {
            let value = config.get(first).map(|value| value.printed());
            value.map_or(String::new(), |value| {
                String::from_utf8_lossy(&value).into_owned()
            })
        };
        let texts = (value(&before), value(&now));
        Some(self.by_header(SegmentName::Route, 0, Cause::Config { members }, texts))
    }

    /// Whether a header was logged in between whose text is redacted: what it changed cannot be seen.
    pub(super) fn redacted(&self) -> Option<Break> {
        let (before, now) = self
            .headers()
            .filter(|_| self.before.header != self.now.header)?;
        let changed = matches!(now.reason, HeaderReason::Change | HeaderReason::Series);
        let hidden = changed && (before.redacted || now.redacted);
        hidden.then(|| self.by_header(SegmentName::System, 0, Cause::Redacted, Default::default()))
    }

    /// The break at a segment of the prompt. `after` is what stands in the segment now, where messages were kept.
    pub(super) fn segment(&self, broken: &wire::Broken<'log>, after: Option<Vec<u8>>) -> Break {
        use wire::SegmentKind::{Message, Prefix, System, Tool};
        let byte = broken.byte.unwrap_or(0);
        let now = broken.now.as_ref().map(|segment| segment.kind);
        match (broken.before.kind, now) {
            // The list of tools is longer or shorter, in front of the system prompt.
            (System, Some(Tool { name, .. })) if self.has_other_tools() => {
                self.tools(None, name, byte)
            }
            (Tool { name, .. }, Some(System)) if self.has_other_tools() => {
                self.tools(name, None, byte)
            }
            (System, _) | (_, Some(System)) => self.system(byte),
            (Tool { name, .. }, now) => {
                let now = match now {
                    Some(Tool { name, .. }) => name,
                    _ => None,
                };
                self.tools(name, now, byte)
            }
            (_, Some(Tool { name, .. })) => self.tools(None, name, byte),
            (Prefix { index }, _) | (_, Some(Prefix { index })) => {
                let texts = self.header_texts("messagePrefix");
                self.by_header(
                    SegmentName::Prefix(index as usize),
                    byte,
                    Cause::SessionPrefix,
                    texts,
                )
            }
            (Message { message, .. }, _) => self.history(message, byte, after),
        }
    }

    /// Whether the tools differ, and the header's own system prompt does not.
    fn has_other_tools(&self) -> bool {
        let Some((before, now)) = self.headers() else {
            return false;
        };
        let is_same = |name| {
            let part = |header: &HeaderFact<'log>| header_part(header.raw, name);
            match (part(before), part(now)) {
                (Some(before), Some(now)) => before.same_text(now),
                (None, None) => true,
                _ => false,
            }
        };
        !is_same("tools") && is_same("system")
    }

    fn system(&self, byte: u64) -> Break {
        match self
            .lowest_replace()
            .filter(|(_, role)| *role == Role::System)
        {
            // From version 3 on the prompt is a message of the surface.
            Some((op, _)) => {
                let texts = self.system_texts(op);
                self.by_op(op, SegmentName::System, byte, Cause::SystemText, texts)
            }
            None => self.by_header(
                SegmentName::System,
                byte,
                Cause::SystemText,
                self.header_texts("system"),
            ),
        }
    }

    fn tools(&self, before: Option<Raw<'log>>, now: Option<Raw<'log>>, byte: u64) -> Break {
        let lists = self
            .headers()
            .map(|(a, b)| (declared(a.raw), declared(b.raw)))
            .unwrap_or_default();
        let (old, new) = (before.map(shown), now.map(shown));
        let find = |list: &[(String, Raw<'log>)], name: &str| {
            list.iter()
                .find(|(own, _)| own == name)
                .map(|(_, tool)| *tool)
        };
        let first_only_in = |list: &[(String, Raw<'log>)], other: &[(String, Raw<'log>)]| {
            list.iter()
                .find(|(name, _)| find(other, name).is_none())
                .map(|(name, _)| name.clone())
        };
        // Where the declarations are redacted the segments have no names: the lists tell.
        let added = match &new {
            Some(name) => find(&lists.0, name).is_none().then(|| name.clone()),
            None => first_only_in(&lists.1, &lists.0),
        };
        let removed = match &old {
            Some(name) => find(&lists.1, name).is_none().then(|| name.clone()),
            None => first_only_in(&lists.0, &lists.1),
        };
        let text = |list: &[(String, Raw<'log>)], name: &str| {
            find(list, name)
                .map(|tool| tool.printed().into_owned())
                .unwrap_or_default()
        };
        let (cause, texts) = match (added, removed) {
            (Some(name), _) => (
                Cause::ToolAdded(name.clone()),
                (old.clone().unwrap_or_default(), name),
            ),
            (_, Some(name)) => (
                Cause::ToolRemoved(name.clone()),
                (name, new.clone().unwrap_or_default()),
            ),
            _ if old.is_some() && old == new => {
                let name = new.clone().unwrap_or_default();
                let texts = excerpt::both(&text(&lists.0, &name), &text(&lists.1, &name));
                (Cause::ToolChanged(name), texts)
            }
            _ => {
                let name = new.clone().or(old.clone()).unwrap_or_default();
                (
                    Cause::ToolsMoved(name),
                    (
                        old.clone().unwrap_or_default(),
                        new.clone().unwrap_or_default(),
                    ),
                )
            }
        };
        let segment = match &cause {
            Cause::ToolAdded(name) | Cause::ToolRemoved(name) | Cause::ToolChanged(name) => {
                name.clone()
            }
            _ => new.or(old).unwrap_or_default(),
        };
        self.by_header(SegmentName::Tool(segment), byte, cause, texts)
    }

    fn history(&self, message: MessageIx, byte: u64, after: Option<Vec<u8>>) -> Break {
        let seq = self
            .session
            .messages
            .get(message.get())
            .map(|message| message.seq);
        let segment = SegmentName::Message(message.get(), seq);
        let after = after
            .map(|text| excerpt::around(&text, byte as usize))
            .unwrap_or_default();
        let texts = (String::new(), after);
        if let Some((op, role)) = self.lowest_replace()
            && let OpKind::Replace { first, last, .. } = op.kind
        {
            let seq_of = |ix: MessageIx| {
                self.session
                    .messages
                    .get(ix.get())
                    .map_or(Seq(0), |fact| fact.seq)
            };
            let kind = match role {
                Role::System => ReplaceKind::SystemHead,
                Role::ToolResult => ReplaceKind::PrunedResult,
                _ if self.compacted() => ReplaceKind::Compaction,
                _ => ReplaceKind::Other,
            };
            let cause = Cause::Replace {
                kind,
                range: (seq_of(first), seq_of(last)),
            };
            return self.by_op(op, segment, byte, cause, texts);
        }
        if let Some(op) = self
            .ops()
            .find(|op| matches!(op.kind, OpKind::Offload { .. }))
        {
            return self.by_op(op, segment, byte, Cause::Offload, texts);
        }
        let build = |derived: &Derived| {
            (
                derived.derivation,
                derived.tags,
                derived.order,
                derived.answers,
            )
        };
        let same_dialect = build(self.before) == build(self.now);
        let cause = if same_dialect {
            Cause::Unexplained
        } else {
            Cause::Dialect
        };
        self.by_header(segment, byte, cause, texts)
    }

    /// Operations between the two boundaries.
    fn ops(&self) -> impl Iterator<Item = &'s SurfaceOp> + use<'s, 'log> {
        let ops = &self.session.ops;
        let from = ops.partition_point(|op| op.seq < self.before.boundary);
        let to = ops.partition_point(|op| op.seq < self.now.boundary);
        ops.get(from..to.max(from)).unwrap_or_default().iter()
    }

    /// The replace between the two boundaries that shadows the earliest message, and the role of what took its place.
    fn lowest_replace(&self) -> Option<(&'s SurfaceOp, Role)> {
        let replaces = self.ops().filter_map(|op| match op.kind {
            OpKind::Replace { first, with, .. } => {
                let role = self.session.messages.get(with.get())?.role;
                Some((first, op, role))
            }
            _ => None,
        });
        replaces
            .min_by_key(|(first, ..)| *first)
            .map(|(_, op, role)| (op, role))
    }

    fn compacted(&self) -> bool {
        let between = |seq: Seq| seq >= self.before.boundary && seq < self.now.boundary;
        self.session
            .compactions
            .iter()
            .any(|compaction| between(compaction.seq))
    }

    fn header_texts(&self, name: &str) -> (String, String) {
        let Some((before, now)) = self.headers() else {
            return Default::default();
        };
        let text = |header: &HeaderFact<'log>| {
            let part = header_part(header.raw, name);
            part.map(|raw| {
                raw.text()
                    .map_or_else(|| raw.printed().into_owned(), |text| text.bytes().to_vec())
            })
            .unwrap_or_default()
        };
        excerpt::both(&text(before), &text(now))
    }

    fn system_texts(&self, op: &SurfaceOp) -> (String, String) {
        let OpKind::Replace { first, with, .. } = op.kind else {
            return Default::default();
        };
        let text = |message: MessageIx| {
            let raw = self
                .session
                .messages
                .get(message.get())
                .and_then(|fact| fact.raw);
            let blocks = raw
                .and_then(|raw| raw.get("content"))
                .into_iter()
                .flat_map(Raw::elements);
            let texts = blocks.filter_map(|block| block.get("text").and_then(Raw::text));
            texts.fold(Vec::new(), |mut all, text| {
                all.extend_from_slice(text.bytes());
                all
            })
        };
        excerpt::both(&text(first), &text(with))
    }

    fn by_header(
        &self,
        segment: SegmentName,
        byte: u64,
        cause: Cause,
        texts: (String, String),
    ) -> Break {
        let header = self.header(self.now);
        let resumed = header.is_some_and(|header| header.reason == HeaderReason::Resume);
        Break {
            segment,
            byte,
            cause,
            on_resume: resumed
                && self
                    .headers()
                    .is_some_and(|(before, now)| !header_equals(before.raw, now.raw)),
            seq: header.map(|header| header.seq),
            line: header.map(|header| header.line),
            span: header.map(|header| header.raw.span()),
            before: texts.0,
            after: texts.1,
        }
    }

    fn by_op(
        &self,
        op: &SurfaceOp,
        segment: SegmentName,
        byte: u64,
        cause: Cause,
        texts: (String, String),
    ) -> Break {
        let at = self
            .session
            .messages
            .binary_search_by_key(&op.seq, |message| message.seq)
            .ok();
        let fact = at.and_then(|at| self.session.messages.get(at));
        Break {
            seq: Some(op.seq),
            line: fact.map(|fact| fact.line),
            span: fact.and_then(|fact| fact.raw).map(Raw::span),
            ..self.by_header(segment, byte, cause, texts)
        }
    }
}

/// The members of an object; of those with one name the last.
fn by_name(object: Raw<'_>) -> BTreeMap<String, Raw<'_>> {
    object
        .members()
        .map(|(key, value)| (shown(key), value))
        .collect()
}

/// A header's tools by name, in their order. A redacted list holds names alone.
fn declared(header: Raw<'_>) -> Vec<(String, Raw<'_>)> {
    let tools = header.get("tools").into_iter().flat_map(Raw::elements);
    tools
        .map(|tool| (shown(tool.get("name").unwrap_or(tool)), tool))
        .collect()
}

/// A name; nothing where there is something else in its place.
fn shown(raw: Raw<'_>) -> String {
    raw.text()
        .map_or(String::new(), |text| text.to_lossy().into_owned())
}
