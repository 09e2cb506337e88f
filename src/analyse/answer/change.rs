//! What differs between two headers, part by part.
//!
//! **Takes** nothing. **Gives** [`HeaderChange`] and what it is made of. **Never** borrows from a log.

use super::cache::SegmentName;
use super::text::{Piece, TextChange};
use crate::record::without_content;

/// A part of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Provider, model, and options of the call.
    Config,
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// The messages in front of the history.
    Prefix,
}

impl Part {
    /// All parts, in the order reports print them.
    pub const ALL: [Part; 4] = [Part::Config, Part::System, Part::Tools, Part::Prefix];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Config => "config",
            Part::System => "system",
            Part::Tools => "tools",
            Part::Prefix => "prefix",
        }
    }
}

/// What differs between two headers. A part that is equal is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeaderChange {
    /// Members of the config.
    pub config: Vec<MemberChange>,
    /// Whether the config's members stand in another order.
    pub config_reordered: bool,
    /// The system prompt.
    pub system: Option<TextChange>,
    /// The tools.
    pub tools: Option<ToolsChange>,
    /// The session prefix.
    pub prefix: Option<PrefixChange>,
    /// What of the earlier prompt still begins the later one; absent where the two do not follow each other.
    pub kept: Option<Kept>,
}

impl HeaderChange {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.parts().next().is_none()
    }

    /// Drops what is of other parts.
    pub fn keep_parts(&mut self, parts: &[Part]) {
        if !parts.contains(&Part::Config) {
            self.config.clear();
            self.config_reordered = false;
        }
        self.system = self.system.take().filter(|_| parts.contains(&Part::System));
        self.tools = self.tools.take().filter(|_| parts.contains(&Part::Tools));
        self.prefix = self.prefix.take().filter(|_| parts.contains(&Part::Prefix));
    }

    /// Drops every text of the log but names: of the differences, where and how much is left.
    pub fn hide_text(&mut self) {
        for member in &mut self.config {
            (member.old, member.new) = (None, None);
        }
        self.texts_mut().for_each(TextChange::hide);
        let tools = self.tools.iter_mut().flat_map(|tools| &mut tools.changed);
        let messages = self
            .prefix
            .iter_mut()
            .flat_map(|prefix| &mut prefix.messages);
        let values = tools.flat_map(|tool| &mut tool.values);
        for value in values.chain(messages.flat_map(|message| &mut message.values)) {
            (value.old, value.new) = (None, None);
            value.pointer = without_content(&value.pointer);
        }
    }

    /// The texts that differ.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut TextChange> {
        let tools = self.tools.iter_mut().flat_map(|tools| &mut tools.changed);
        let messages = self
            .prefix
            .iter_mut()
            .flat_map(|prefix| &mut prefix.messages);
        self.system
            .iter_mut()
            .chain(tools.filter_map(|tool| tool.description.as_mut()))
            .chain(messages.filter_map(|message| message.text.as_mut()))
    }

    /// The parts that differ.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let differs = [
            !self.config.is_empty() || self.config_reordered,
            self.system.is_some(),
            self.tools.is_some(),
            self.prefix.is_some(),
        ];
        Part::ALL
            .into_iter()
            .zip(differs)
            .filter_map(|(part, differs)| differs.then_some(part))
    }
}

/// A member of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberChange {
    /// Its name.
    pub name: String,
    /// What it was, as JSON.
    pub old: Option<String>,
    /// What it is.
    pub new: Option<String>,
    /// Whether the adapter had filled it in.
    pub old_is_default: bool,
    /// Whether the adapter has filled it in.
    pub new_is_default: bool,
}

/// What differs between two lists of tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsChange {
    /// How many there were.
    pub old: u64,
    /// How many there are.
    pub new: u64,
    /// Whether the same tools stand in another order, and nothing else differs.
    pub order_only: bool,
    /// Tools that came.
    pub added: Vec<ToolPlace>,
    /// Tools that went.
    pub removed: Vec<ToolPlace>,
    /// Tools that stand elsewhere among the others.
    pub moved: Vec<ToolMove>,
    /// Tools whose text differs.
    pub changed: Vec<ToolChange>,
    /// How many tools both lists begin with.
    pub same_start: u64,
}

/// A tool and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPlace {
    /// Its name.
    pub name: String,
    /// Its position, from 0.
    pub index: u64,
    /// Its length as it is printed.
    pub bytes: u64,
}

/// A tool that stands elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolMove {
    /// Its name.
    pub name: String,
    /// Where it stood, from 0.
    pub from: u64,
    /// Where it stands.
    pub to: u64,
}

/// A tool whose text differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolChange {
    /// Its name.
    pub name: String,
    /// Its position, from 0.
    pub index: u64,
    /// Its description, where that differs.
    pub description: Option<TextChange>,
    /// What else differs.
    pub values: Vec<ValueChange>,
    /// Differences that are left out because there are too many.
    pub left_out: u64,
}

/// A JSON value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// How.
    pub fate: ValueFate,
    /// What it was, as JSON; of a new order the keys.
    pub old: Option<Vec<Piece>>,
    /// What it is.
    pub new: Option<Vec<Piece>>,
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFate {
    /// It came.
    Added,
    /// It went.
    Removed,
    /// It differs.
    Changed,
    /// An object has its keys in another order.
    Reordered,
}

impl ValueFate {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            ValueFate::Added => "added",
            ValueFate::Removed => "removed",
            ValueFate::Changed => "changed",
            ValueFate::Reordered => "reordered",
        }
    }
}

/// What differs between two session prefixes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrefixChange {
    /// How many messages there were.
    pub old: u64,
    /// How many there are.
    pub new: u64,
    /// How many both begin with.
    pub same_start: u64,
    /// The messages that differ.
    pub messages: Vec<MessageChange>,
}

/// A message that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageChange {
    /// Where it stood, from 0.
    pub old: Option<u64>,
    /// Where it stands.
    pub new: Option<u64>,
    /// Its role.
    pub role: String,
    /// Its text, where that differs or the message came or went.
    pub text: Option<TextChange>,
    /// What else differs.
    pub values: Vec<ValueChange>,
}

/// What happened to the prompt on the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemMove {
    /// The prompt was appended for the first time.
    HeadAppended {
        /// The message's event.
        seq: u64,
    },
    /// The protected first message was replaced: everything behind it is sent anew.
    HeadReplaced {
        /// The message's event.
        seq: u64,
    },
    /// A further system message was appended: what stands before it stays.
    PromptUpdate {
        /// The message's event.
        seq: u64,
    },
    /// An earlier update was emptied.
    UpdateEmptied {
        /// The message's event.
        seq: u64,
    },
    /// An earlier update went with the messages around it.
    UpdateShadowed,
    /// A developer message says which tools came and went.
    ToolUpdate {
        /// The message's event.
        seq: u64,
        /// Tools that came.
        added: Vec<String>,
        /// Tools that went.
        removed: Vec<String>,
    },
}

impl SystemMove {
    /// The event that made it, where there is one.
    pub fn seq(&self) -> Option<u64> {
        match self {
            SystemMove::HeadAppended { seq }
            | SystemMove::HeadReplaced { seq }
            | SystemMove::PromptUpdate { seq }
            | SystemMove::UpdateEmptied { seq }
            | SystemMove::ToolUpdate { seq, .. } => Some(*seq),
            SystemMove::UpdateShadowed => None,
        }
    }
}

/// What of the prompt that was sent before still begins this one, on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Bytes with which it begins as the prompt before did.
    pub bytes: u64,
    /// Its bytes.
    pub of: u64,
    /// Where the prefix ends; absent where all of it is kept.
    pub broken: Option<Broken>,
    /// An option of the call that alone may or may not matter to the provider, where nothing else differs.
    pub doubt: Option<String>,
}

/// Where a prefix ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// At what.
    pub at: SegmentName,
    /// The first byte within it that differs, where that is known.
    pub byte: Option<u64>,
}
