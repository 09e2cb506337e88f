//! Assembles a response's chunks into the content of its message.
//!
//! **Takes** chunks and packed runs in their order. **Gives** the blocks, the usage and the end. **Never** outlives its attempt.
//!
//! Source: format reference, section G, and the grammar of H-STREAM in B.2.

use std::borrow::Cow;
use std::collections::HashMap;

use super::turn_facts::Finish;
use crate::event::Chunk;
use crate::line::Seq;
use crate::record::{DeltaKind, DeltaRun, Kind, Printed, Raw, print_str};

/// Parts that are looked through to find one.
const FEW: usize = 8;

/// A response while it streams.
#[derive(Debug, Default)]
pub(crate) struct Response {
    parts: Vec<Part>,
    /// Where the part of an index is, once there are more than a few.
    by_index: HashMap<Option<u64>, usize>,
    /// Parts that no `block-end` closed.
    open: usize,
    usage: Option<Vec<u8>>,
    /// What the adapter needs to replay the response, printed.
    replay: Option<Vec<u8>>,
    finish: Finish,
    finished: bool,
    chunks: u64,
    /// Runs of consecutive chunk events, first and last seq.
    seqs: Vec<(Seq, Seq)>,
    grammar: Option<&'static str>,
}

#[derive(Debug)]
struct Part {
    index: Option<u64>,
    kind: PartKind,
    text: Printed,
    id: Option<Printed>,
    name: Printed,
    /// The block of its `block-end`.
    closed: Option<Closed>,
}

/// A block that is complete.
#[derive(Debug)]
struct Closed {
    kind: PartKind,
    printed: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Text,
    Reasoning,
    ToolCall,
    Other,
}

impl PartKind {
    fn of(raw: Option<Raw<'_>>) -> PartKind {
        let is = |word: &str| raw.is_some_and(|raw| raw.is_str(word));
        match () {
            () if is("text") => PartKind::Text,
            () if is("reasoning") => PartKind::Reasoning,
            () if is("tool-call") => PartKind::ToolCall,
            () => PartKind::Other,
        }
    }
}

impl Response {
    /// Adds the seqs of chunk events.
    pub(crate) fn extend(&mut self, first: Seq, count: u64) {
        let last = Seq(first.0.saturating_add(count.saturating_sub(1)));
        match self.seqs.last_mut() {
            Some(run) if run.1.0.checked_add(1) == Some(first.0) => run.1 = last,
            _ => self.seqs.push((first, last)),
        }
    }

    /// Takes a chunk.
    pub(crate) fn push(&mut self, chunk: &Chunk<'_>) {
        self.chunks += 1;
        if self.finished {
            self.fault("a chunk follows the finish");
        }
        match *chunk {
            Chunk::BlockStart { index, kind } => self.start(index, PartKind::of(kind)),
            Chunk::Text { index, text } => {
                self.delta(index, PartKind::Text, |part| part.text.push(text));
            }
            Chunk::Reasoning { index, text } => {
                self.delta(index, PartKind::Reasoning, |part| part.text.push(text));
            }
            Chunk::ToolCall {
                index,
                id,
                name,
                arguments,
            } => {
                self.delta(index, PartKind::ToolCall, |part| {
                    part.identify(Some(id), name);
                    part.text.push(arguments);
                });
            }
            Chunk::BlockEnd { index, block } => self.end(index, block),
            Chunk::Usage(usage) => {
                if self.usage.replace(usage.printed().into_owned()).is_some() {
                    self.fault("usage comes twice");
                }
            }
            Chunk::Finish { reason, replay } => {
                self.replay = replay.map(|replay| replay.printed().into_owned());
                self.finish(reason);
            }
            Chunk::Other => {}
        }
    }

    /// Takes a packed run.
    pub(crate) fn push_run(&mut self, run: &DeltaRun<'_>) {
        self.chunks += run.len;
        if self.finished {
            self.fault("a chunk follows the finish");
        }
        let kind = match run.kind {
            DeltaKind::Text => PartKind::Text,
            DeltaKind::Reasoning => PartKind::Reasoning,
            DeltaKind::ToolCall => PartKind::ToolCall,
        };
        let index = run.index.safe_int().and_then(|n| u64::try_from(n).ok());
        self.delta(index, kind, |part| {
            if part.kind == PartKind::ToolCall || run.id.is_some() {
                part.identify(run.id, run.name);
            }
            run.joined(&mut part.text);
        });
    }

    fn fault(&mut self, why: &'static str) {
        self.grammar.get_or_insert(why);
    }

    fn position(&self, index: Option<u64>) -> Option<usize> {
        // The block that grows is nearly always the last one.
        match self.parts.last() {
            Some(part) if part.index == index => Some(self.parts.len() - 1),
            _ if self.parts.len() <= FEW => self.parts.iter().position(|part| part.index == index),
            _ => self.by_index.get(&index).copied(),
        }
    }

    /// Adds the part of a new index; where it is.
    fn add(&mut self, index: Option<u64>, kind: PartKind) -> usize {
        let at = self.parts.len();
        self.parts.push(Part::new(index, kind));
        match self.parts.len() {
            ..=FEW => {}
            len if len == FEW + 1 => {
                let indexes = self.parts.iter().map(|part| part.index);
                self.by_index = indexes.zip(0..).collect();
            }
            _ => {
                self.by_index.insert(index, at);
            }
        }
        self.open += 1;
        at
    }

    fn start(&mut self, index: Option<u64>, kind: PartKind) {
        if index.is_none() {
            self.fault("a block's index is no whole number");
        }
        match self.position(index) {
            Some(_) => self.fault("a block starts twice"),
            None => {
                self.add(index, kind);
            }
        }
    }

    fn delta(&mut self, index: Option<u64>, kind: PartKind, add: impl FnOnce(&mut Part)) {
        let at = match self.position(index) {
            Some(at) => at,
            None => {
                self.fault("a delta has no open block");
                self.add(index, kind)
            }
        };
        let Some(part) = self.parts.get_mut(at) else {
            return;
        };
        if part.closed.is_some() {
            return self.fault("a delta has no open block");
        }
        let fits = part.kind == kind;
        add(part);
        if !fits {
            self.fault("a delta has another type than its block");
        }
    }

    fn end(&mut self, index: Option<u64>, block: Raw<'_>) {
        let kind = PartKind::of(block.get("type"));
        let at = match self.position(index) {
            Some(at) => at,
            None => {
                self.fault("a block ends that never started");
                self.add(index, kind)
            }
        };
        let Some(part) = self.parts.get_mut(at) else {
            return;
        };
        let fits = part.kind == kind;
        let twice = part.closed.is_some();
        self.open -= usize::from(!twice);
        part.closed.get_or_insert_with(|| Closed {
            kind,
            printed: block.printed().into_owned(),
        });
        part.text.clear();
        if twice {
            self.fault("a block ends twice");
        } else if !fits {
            self.fault("a block ends with another type than it began with");
        }
    }

    fn finish(&mut self, reason: Option<Raw<'_>>) {
        let kind = reason.and_then(|reason| reason.get("kind"));
        let is = |word: &str| kind.is_some_and(|kind| kind.is_str(word));
        let failed = is("error") || is("aborted");
        if self.open > 0 && !failed {
            self.fault("a block is open at the finish");
        }
        self.finished = true;
        self.finish = if failed {
            Finish::Failed {
                early: reason.is_some_and(|reason| reason.get("message").is_some()),
            }
        } else if is("max-tokens") {
            Finish::MaxTokens
        } else {
            Finish::Done
        };
    }

    pub(crate) fn ended(&self) -> Finish {
        self.finish
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    pub(crate) fn usage(&self) -> Option<&[u8]> {
        self.usage.as_deref()
    }

    pub(crate) fn seqs(&self) -> &[(Seq, Seq)] {
        &self.seqs
    }

    /// The first fault in the stream's grammar.
    pub(crate) fn grammar(&self) -> Option<&'static str> {
        self.grammar
    }

    /// The blocks of the message, printed, each with whether a `block-end` closed it.
    pub(crate) fn blocks(&self, interrupted: bool) -> impl Iterator<Item = (Cow<'_, [u8]>, bool)> {
        let drops_calls = self.finish == Finish::MaxTokens || interrupted;
        let kept = self.parts.iter().filter(move |part| match part.kind() {
            PartKind::ToolCall => !drops_calls,
            PartKind::Text | PartKind::Reasoning => !interrupted || !part.is_blank(),
            PartKind::Other => !interrupted,
        });
        kept.map(|part| (part.printed(), part.closed.is_some()))
    }

    /// What the message's source must say of the replay: of an envelope with a list of blocks, the blocks that were kept.
    pub(crate) fn replay_state(&self, interrupted: bool) -> Option<Vec<u8>> {
        let printed = self.replay.as_deref().filter(|_| !interrupted)?;
        let replay = Raw::parse(printed).ok()?;
        let Some(blocks) = replay
            .get("blocks")
            .filter(|blocks| blocks.kind() == Kind::Array)
        else {
            return Some(printed.to_vec());
        };
        if blocks.elements().count() != self.parts.len() {
            return None;
        }
        if self.finish != Finish::MaxTokens {
            return Some(printed.to_vec());
        }
        let pairs = blocks.elements().zip(&self.parts);
        let kept = pairs.filter(|(_, part)| part.kind() != PartKind::ToolCall);
        let kept: Vec<_> = kept.map(|(block, _)| block.printed()).collect();
        let mut out = vec![b'{'];
        for (key, value) in replay.members() {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&key.printed());
            out.push(b':');
            match key.is_str("blocks") {
                true => {
                    out.push(b'[');
                    out.extend_from_slice(&kept.join(&b','));
                    out.push(b']');
                }
                false => out.extend_from_slice(&value.printed()),
            }
        }
        out.push(b'}');
        Some(out)
    }
}

impl Part {
    fn new(index: Option<u64>, kind: PartKind) -> Part {
        Part {
            index,
            kind,
            text: Printed::new(),
            id: None,
            name: Printed::new(),
            closed: None,
        }
    }

    fn identify(&mut self, id: Option<Raw<'_>>, name: Option<Raw<'_>>) {
        if let Some(id) = id {
            let own = self.id.get_or_insert_default();
            own.clear();
            own.push(id);
        }
        if let Some(name) = name.filter(|name| !name.is_str("")) {
            self.name.clear();
            self.name.push(name);
        }
    }

    /// The type of the block it becomes: a `block-end` decides, whatever began it.
    fn kind(&self) -> PartKind {
        self.closed.as_ref().map_or(self.kind, |block| block.kind)
    }

    fn is_blank(&self) -> bool {
        let Some(block) = &self.closed else {
            return self.text.is_blank();
        };
        let block = Raw::parse(&block.printed).ok();
        let text = block.and_then(|block| block.get("text")?.text());
        text.is_none_or(|text| text.is_blank())
    }

    fn printed(&self) -> Cow<'_, [u8]> {
        if let Some(block) = &self.closed {
            return Cow::Borrowed(&block.printed);
        }
        let mut out = Vec::with_capacity(self.text.body().len() + 32);
        match self.kind {
            PartKind::Text => print_member(&mut out, b"{\"type\":\"text\",\"text\":", &self.text),
            PartKind::Reasoning => {
                print_member(&mut out, b"{\"type\":\"reasoning\",\"text\":", &self.text);
            }
            PartKind::ToolCall => self.print_call(&mut out),
            PartKind::Other => return Cow::Owned(out),
        }
        out.push(b'}');
        Cow::Owned(out)
    }

    fn print_call(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"tool-call\",\"id\":");
        match &self.id {
            Some(id) if !id.is_empty() => id.print(out),
            _ => print_str(&format!("call-{}", self.index.unwrap_or(0)), out)
                .expect("writing to a vector cannot fail"),
        }
        print_member(out, b",\"name\":", &self.name);
        print_member(out, b",\"arguments\":", &self.text);
    }
}

fn print_member(out: &mut Vec<u8>, before: &[u8], text: &Printed) {
    out.extend_from_slice(before);
    text.print(out);
}

#[cfg(test)]
mod tests;
