//! The tools that headers declare, by name.
//!
//! **Takes** headers when one is asked about. **Gives** a tool by its name, without another walk over the header.
//! **Never** looks at a header that nobody asks about.

use std::collections::HashMap;

use super::session::HeaderFact;
use crate::line::Seq;
use crate::record::Raw;

/// The declared tools of the headers asked about so far. A log can hold many developer messages over one large header.
#[derive(Debug, Default)]
pub(crate) struct DeclaredTools<'log> {
    headers: HashMap<Seq, HashMap<Vec<u8>, Declared<'log>>>,
}

/// What a header declares under one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'log> {
    /// The first tool of the name.
    pub(crate) tool: Raw<'log>,
    /// Whether another one has the same name.
    pub(crate) again: bool,
}

impl<'log> DeclaredTools<'log> {
    /// What a header declares under a name; `name` is printed, empty for a tool without one. O(1) from the second question on.
    pub(crate) fn find(
        &mut self,
        header: &HeaderFact<'log>,
        name: &[u8],
    ) -> Option<Declared<'log>> {
        let tools = self
            .headers
            .entry(header.seq)
            .or_insert_with(|| by_name(header));
        tools.get(name).copied()
    }
}

fn by_name<'log>(header: &HeaderFact<'log>) -> HashMap<Vec<u8>, Declared<'log>> {
    let mut tools: HashMap<Vec<u8>, Declared<'log>> = HashMap::new();
    for tool in header.raw.get("tools").into_iter().flat_map(Raw::elements) {
        tools
            .entry(printed_name(tool))
            .and_modify(|declared| declared.again = true)
            .or_insert(Declared { tool, again: false });
    }
    tools
}

/// A tool's name, printed; empty where it has none.
pub(crate) fn printed_name(tool: Raw<'_>) -> Vec<u8> {
    tool.get("name")
        .map(|name| name.printed().into_owned())
        .unwrap_or_default()
}
