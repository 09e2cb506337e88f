//! One message as a request sends it.
//!
//! **Takes** a kept message and what its request decides. **Gives** its wire messages, one by one. **Never** merges them.

use std::io::{self, Write};

use super::blocks::{self, List};
use super::catalog::Catalog;
use super::chat;
use super::manner::{Manner, name_digest};
use super::messages::{self, Surroundings, Voice};
use crate::dialect::Interface;
use crate::event::{Form, Role};
use crate::fold::{MessageIx, Session};
use crate::record::Raw;

/// A message and what decides how it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speech<'r, 'log> {
    pub(super) role: Role,
    form: Form,
    object: Raw<'log>,
    manner: Manner,
    around: Surroundings<'r, 'log>,
}

impl<'r, 'log> Speech<'r, 'log> {
    /// Absent where the message was not kept, or is never sent.
    pub(super) fn of(
        session: &Session<'log>,
        message: MessageIx,
        manner: &Manner,
        catalog: Option<&'r Catalog<'log>>,
        offloaded: &'r [u32],
    ) -> Option<Speech<'r, 'log>> {
        let fact = session.messages.get(message.get())?;
        let object = fact.raw?;
        let is_dropped = fact.is_empty && matches!(fact.role, Role::Assistant | Role::System);
        if is_dropped {
            return None;
        }
        let is_answer = manner.interface == Interface::Messages && fact.role == Role::Assistant;
        let replay = messages::replay(object).filter(|_| is_answer);
        let names = catalog.filter(|_| fact.role == Role::Developer);
        Some(Speech {
            role: fact.role,
            form: fact.form,
            object,
            manner: *manner,
            around: Surroundings {
                is_signed: replay.is_some_and(|replay| name_digest(replay.model) == manner.model),
                offloaded,
                names: names.map_or(&[], |catalog| catalog.notice(object)),
            },
        })
    }

    /// Whether its content holds images.
    pub(super) fn has_images(&self) -> bool {
        blocks::Blocks::read(self.object.get("content")).has_images
    }

    /// Its wire messages in chat completions.
    pub(super) fn chat(&self) -> Vec<chat::Part<'log>> {
        chat::parts(self.role, self.form, self.object, self.manner.tags)
    }

    /// Writes one of its wire messages in chat completions.
    pub(super) fn write_chat(&self, part: &chat::Part<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(self.manner.answers, self.around.offloaded, out)
    }

    /// Writes its blocks in the Messages interface.
    pub(super) fn write_blocks(&self, list: &mut List<'_>) -> io::Result<()> {
        messages::blocks(self.role, self.object, &self.around, list)
    }

    /// The text of a system prompt, as a JSON string.
    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        messages::system_text(self.object.get("content")).print(out)
    }

    /// How many wire messages it becomes.
    pub(super) fn count(&self) -> usize {
        match self.manner.interface {
            Interface::Chat | Interface::EarlyChat => self.chat().len(),
            Interface::Messages => {
                let mut sink = io::sink();
                let mut list = List::new(&mut sink);
                // Writing nowhere does not fail.
                let _ = self.write_blocks(&mut list);
                usize::from(!list.is_empty())
            }
        }
    }

    /// Writes one of its wire messages as a segment.
    pub(super) fn write(&self, part: u32, out: &mut dyn Write) -> io::Result<()> {
        if self.manner.interface == Interface::Messages {
            Voice::of(self.role).open(out)?;
            let mut list = List::new(out);
            self.write_blocks(&mut list)?;
            return Voice::close(list.end());
        }
        match self.chat().get(part as usize) {
            Some(part) => self.write_chat(part, out),
            None => Ok(()),
        }
    }
}
