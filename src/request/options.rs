//! The object a request is: its members around the messages, in the order of its build.
//!
//! **Takes** a request. **Gives** what stands before and behind its messages. **Never** prints a message of the history.
//!
//! Source: format reference, section D.1; K (a config member named like a request member).

use std::io::{self, Write};

use super::tool_history::ToolHistory;
use crate::dialect::{Derivation, Derived, Order};
use crate::fold::header_part;
use crate::record::Raw;

/// What stands around the messages of one request.
pub(super) struct Frame<'r, 'log> {
    pub(super) derived: &'r Derived,
    pub(super) header: Raw<'log>,
    /// `sessionId`, as it stands in the log.
    pub(super) session_id: Raw<'log>,
    pub(super) tools: &'r ToolHistory<'log>,
}

/// A member of the request beside the config's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Messages,
    System,
    ToolHistory,
    Tools,
    SessionId,
}

const SPREAD: [Part; 4] = [Part::Messages, Part::System, Part::Tools, Part::SessionId];
const WITH_HISTORY: [Part; 4] = [
    Part::Messages,
    Part::ToolHistory,
    Part::Tools,
    Part::SessionId,
];

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Messages => "messages",
            Part::System => "system",
            Part::ToolHistory => "toolHistory",
            Part::Tools => "tools",
            Part::SessionId => "sessionId",
        }
    }
}

impl<'log> Frame<'_, 'log> {
    /// Writes everything before the first message of the history: the opening brace, members, and the session prefix. Gives
    /// whether a message stands there already.
    pub(super) fn head(&self, out: &mut impl Write) -> io::Result<bool> {
        out.write_all(b"{")?;
        let mut first = true;
        match self.derived.order {
            Order::Named => {
                self.named(&["provider", "model", "reasoningEffort"], &mut first, out)?
            }
            _ => {
                for (key, value) in self.config().into_iter().flat_map(Raw::members) {
                    if self.part_named(key) == Some(Part::Messages) {
                        break;
                    }
                    self.config_member(key, value, &mut first, out)?;
                }
            }
        }
        separate(&mut first, out)?;
        out.write_all(b"\"messages\":[")?;
        self.prefix(out)
    }

    /// Writes everything behind the last message.
    pub(super) fn tail(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"]")?;
        let mut first = false;
        if self.derived.order == Order::Named {
            self.part(Part::System, &mut first, out)?;
            self.part(Part::Tools, &mut first, out)?;
            self.named(&["temperature", "maxTokens", "stop"], &mut first, out)?;
            self.part(Part::SessionId, &mut first, out)?;
            return out.write_all(b"}");
        }
        let config = || self.config().into_iter().flat_map(Raw::members);
        let holds = |part: Part| config().any(|(key, _)| self.part_named(key) == Some(part));
        let behind = config()
            .skip_while(|(key, _)| self.part_named(*key) != Some(Part::Messages))
            .skip(1);
        for (key, value) in behind {
            self.config_member(key, value, &mut first, out)?;
        }
        for part in self.parts() {
            if part != Part::Messages && !holds(part) {
                self.part(part, &mut first, out)?;
            }
        }
        out.write_all(b"}")
    }

    fn parts(&self) -> [Part; 4] {
        if self.derived.order == Order::ToolHistory {
            WITH_HISTORY
        } else {
            SPREAD
        }
    }

    fn config(&self) -> Option<Raw<'log>> {
        self.header.get("config")
    }

    /// The part that a config member of this name loses its value to.
    fn part_named(&self, key: Raw<'_>) -> Option<Part> {
        let part = self
            .parts()
            .into_iter()
            .find(|part| key.is_str(part.name()))?;
        (part == Part::Messages || self.value(part).is_some() || part == Part::ToolHistory)
            .then_some(part)
    }

    fn config_member(
        &self,
        key: Raw<'_>,
        value: Raw<'_>,
        first: &mut bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if key.is_str("signal") {
            return Ok(());
        }
        if let Some(part) = self.part_named(key) {
            return self.part(part, first, out);
        }
        separate(first, out)?;
        key.print(out)?;
        out.write_all(b":")?;
        value.print(out)
    }

    fn named(&self, names: &[&str], first: &mut bool, out: &mut impl Write) -> io::Result<()> {
        for name in names {
            if let Some(value) = self.config().and_then(|config| config.get(name)) {
                separate(first, out)?;
                write!(out, "\"{name}\":")?;
                value.print(out)?;
            }
        }
        Ok(())
    }

    fn value(&self, part: Part) -> Option<Raw<'log>> {
        match part {
            Part::System => header_part(self.header, "system"),
            Part::Tools => header_part(self.header, "tools"),
            Part::SessionId => Some(self.session_id),
            Part::Messages | Part::ToolHistory => None,
        }
    }

    fn part(&self, part: Part, first: &mut bool, out: &mut impl Write) -> io::Result<()> {
        if part == Part::ToolHistory {
            separate(first, out)?;
            out.write_all(b"\"toolHistory\":")?;
            return self.tools.print(out);
        }
        let Some(value) = self.value(part) else {
            return Ok(());
        };
        separate(first, out)?;
        write!(out, "\"{}\":", part.name())?;
        value.print(out)
    }

    /// The session prefix: only plain and provenance requests begin with it.
    fn prefix(&self, out: &mut impl Write) -> io::Result<bool> {
        if self.derived.derivation == Derivation::Identified {
            return Ok(false);
        }
        let mut any = false;
        for message in header_part(self.header, "messagePrefix")
            .into_iter()
            .flat_map(Raw::elements)
        {
            if std::mem::replace(&mut any, true) {
                out.write_all(b",")?;
            }
            message.print(out)?;
        }
        Ok(any)
    }
}

fn separate(first: &mut bool, out: &mut impl Write) -> io::Result<()> {
    if !std::mem::replace(first, false) {
        out.write_all(b",")?;
    }
    Ok(())
}
