//! The history of a request's tools (version 4): what was declared first, and what was added or removed since.
//!
//! **Takes** headers and developer messages in their order. **Gives** `toolHistory`. **Never** reaches back: it is folded forward.
//!
//! Source: generations reference, section 4.2.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::fold::{DeclaredTools, HeaderFact, Session, printed_name as name};
use crate::record::Raw;

/// The state of the fold.
#[derive(Debug, Default)]
pub(super) struct ToolHistory<'log> {
    has_baseline: bool,
    declared: HashMap<Vec<u8>, Raw<'log>>,
    available: HashSet<Vec<u8>>,
    active: Vec<Raw<'log>>,
    /// The tools of the last baseline.
    tools: Vec<Raw<'log>>,
    updates: Vec<ToolUpdate<'log>>,
    /// How often it was told something.
    revision: usize,
    schemas: DeclaredTools<'log>,
}

/// What one developer message changed.
#[derive(Debug)]
pub struct ToolUpdate<'log> {
    /// The message's id.
    pub message_id: Raw<'log>,
    /// The schemas it added.
    pub additions: Vec<Raw<'log>>,
}

impl<'log> ToolHistory<'log> {
    /// Takes a header.
    pub(super) fn header(&mut self, header: &HeaderFact<'log>) {
        self.revision += 1;
        let tools: Vec<Raw<'log>> = header
            .raw
            .get("tools")
            .into_iter()
            .flat_map(Raw::elements)
            .collect();
        let redeclared = |tool: &Raw<'log>| {
            self.declared
                .get(&name(*tool))
                .is_some_and(|earlier| !earlier.same_text(*tool))
        };
        if !self.has_baseline || header.starts_series || tools.iter().any(redeclared) {
            self.has_baseline = true;
            self.declared = tools.iter().map(|tool| (name(*tool), *tool)).collect();
            self.available = tools.iter().map(|tool| name(*tool)).collect();
            self.tools.clone_from(&tools);
            self.updates.clear();
        }
        self.active = tools;
    }

    /// Takes a developer message.
    pub(super) fn developer(
        &mut self,
        session: &Session<'log>,
        message: Raw<'log>,
        header_seq: Option<u64>,
    ) {
        self.revision += 1;
        let header = header_seq.and_then(|seq| {
            let at = session
                .headers
                .binary_search_by_key(&seq, |header| header.seq.0)
                .ok()?;
            session.headers.get(at)
        });
        let mut declares = |wanted: &[u8]| Some(self.schemas.find(header?, wanted)?.tool);
        let mut additions = Vec::new();
        for block in message.get("content").into_iter().flat_map(Raw::elements) {
            let tool = block
                .get("toolName")
                .map(|name| name.printed().into_owned())
                .unwrap_or_default();
            if block
                .get("type")
                .is_some_and(|kind| kind.is_str("tool-addition"))
            {
                if let Some(schema) = declares(&tool) {
                    self.declared.insert(tool.clone(), schema);
                    additions.push(schema);
                }
                self.available.insert(tool);
            } else {
                self.available.remove(&tool);
            }
        }
        if let Some(message_id) = message.get("id") {
            self.updates.push(ToolUpdate {
                message_id,
                additions,
            });
        }
    }

    /// Whether the tools in use are not the ones the history adds up to.
    fn is_detached(&self) -> bool {
        let active: HashSet<Vec<u8>> = self.active.iter().map(|tool| name(*tool)).collect();
        active != self.available
    }

    /// Equal for requests with nothing told in between.
    pub(super) fn revision(&self) -> usize {
        self.revision
    }

    /// The tools of the baseline and the updates since; the tools in use alone where they are not what those add up to.
    pub(super) fn snapshot(&self) -> (&[Raw<'log>], &[ToolUpdate<'log>]) {
        if self.is_detached() {
            (&self.active, &[])
        } else {
            (&self.tools, &self.updates)
        }
    }

    /// Writes `{"tools":[…],"updates":[…]}`.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let (tools, updates) = self.snapshot();
        out.write_all(b"{\"tools\":[")?;
        list(tools, out)?;
        out.write_all(b"],\"updates\":[")?;
        for (at, update) in updates.iter().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            out.write_all(b"{\"messageId\":")?;
            update.message_id.print(out)?;
            out.write_all(b",\"additions\":[")?;
            list(&update.additions, out)?;
            out.write_all(b"]}")?;
        }
        out.write_all(b"]}")
    }
}

fn list(tools: &[Raw<'_>], out: &mut impl Write) -> io::Result<()> {
    for (at, tool) in tools.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        tool.print(out)?;
    }
    Ok(())
}
