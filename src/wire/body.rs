//! The body of a request, as the provider receives it.
//!
//! **Takes** a request of a log whose messages were kept. **Gives** the body's bytes, members in the order sent. **Never** writes the
//! members of the harness's extensions, or one whose value only the deployment knows: those are named.
//!
//! Source: format reference, section F; generations reference, section 7.

use std::io::{self, Write};

use super::blocks::List;
use super::catalog::Catalog;
use super::chat;
use super::layout::{Layout, Surface, Unit};
use super::manner::{Manner, config};
use super::messages::{self, Voice};
use super::speech::Speech;
use crate::dialect::Interface;
use crate::fold::MessageIx;
use crate::record::Raw;
use crate::request::Request;

/// What a body does not hold as it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// `thinking`, and `reasoning_effort` with it: the log names no effort.
    pub thinking: bool,
    /// `max_tokens`: the log names no limit, and the interface needs one.
    pub max_tokens: bool,
    /// Images stand as they are logged.
    pub images: bool,
}

impl Omitted {
    /// Whether the body is as it was sent, extensions apart.
    pub fn is_nothing(self) -> bool {
        self == Omitted::default()
    }

    /// What this body or another does not hold.
    pub fn and(self, other: Omitted) -> Omitted {
        Omitted {
            thinking: self.thinking || other.thinking,
            max_tokens: self.max_tokens || other.max_tokens,
            images: self.images || other.images,
        }
    }
}

/// Writes the body of a request, printed as the harness prints it. Says what it does not hold as it was sent.
///
/// # Errors
///
/// What `out` reports.
pub fn write_body(
    request: &Request<'_, '_>,
    interface: Interface,
    out: &mut dyn Write,
) -> io::Result<Omitted> {
    let manner = Manner::of(request, interface);
    let is_messages = interface == Interface::Messages;
    let body = Body {
        request,
        manner,
        config: config(request),
        catalog: is_messages.then(|| Catalog::of(request)),
    };
    out.write_all(b"{")?;
    let mut list = List::new(out);
    let omitted = if is_messages {
        body.messages_interface(&mut list)?
    } else {
        body.chat_completions(&mut list)?
    };
    list.end().write_all(b"}")?;
    Ok(omitted)
}

struct Body<'r, 'log> {
    request: &'r Request<'r, 'log>,
    manner: Manner,
    config: Option<Raw<'log>>,
    catalog: Option<Catalog<'log>>,
}

/// How much a model is asked to think.
enum Effort<'log> {
    Unknown,
    Off,
    Named(Raw<'log>),
}

impl<'log> Body<'_, 'log> {
    fn chat_completions(&self, list: &mut List<'_>) -> io::Result<Omitted> {
        let mut omitted = Omitted::default();
        self.named("model", "model", list)?;
        list.next()?.write_all(b"\"messages\":[")?;
        self.chat_messages(&mut omitted, &mut List::new(list.end()))?;
        list.end()
            .write_all(b"],\"stream\":true,\"stream_options\":{\"include_usage\":true}")?;
        match self.effort() {
            Effort::Unknown => omitted.thinking = true,
            Effort::Off => thinking("disabled", list)?,
            Effort::Named(effort) => {
                thinking("enabled", list)?;
                list.member("reasoning_effort", effort)?;
            }
        }
        let mut tools = self.request.tools().peekable();
        if tools.peek().is_some() {
            list.next()?.write_all(b"\"tools\":[")?;
            let mut items = List::new(list.end());
            for schema in tools {
                chat::tool(schema, items.next()?)?;
            }
            list.end().write_all(b"]")?;
        }
        self.named("temperature", "temperature", list)?;
        self.named("max_tokens", "maxTokens", list)?;
        self.named("stop", "stop", list)?;
        Ok(omitted)
    }

    fn messages_interface(&self, list: &mut List<'_>) -> io::Result<Omitted> {
        let mut omitted = Omitted::default();
        self.named("model", "model", list)?;
        list.next()?.write_all(b"\"stream\":true,\"messages\":[")?;
        let layout = self.layout();
        self.merged(&layout, &mut omitted, &mut List::new(list.end()))?;
        list.end().write_all(b"]")?;
        omitted.max_tokens = !self.named("max_tokens", "maxTokens", list)?;
        let effort = match self.effort() {
            Effort::Off => None,
            Effort::Unknown => Some(None),
            Effort::Named(effort) => Some(Some(effort)),
        };
        let is_enabled = effort.is_some();
        thinking(if is_enabled { "enabled" } else { "disabled" }, list)?;
        if let Some(effort) = effort {
            let out = list.next()?;
            out.write_all(b"\"output_config\":{\"effort\":")?;
            match effort {
                Some(effort) => effort.print(out)?,
                None => out.write_all(b"\"high\"")?,
            }
            out.write_all(b"}")?;
        }
        if let Some(system) = layout
            .top(self.request.surface())
            .and_then(|top| self.speech(top))
        {
            let mut text = Vec::new();
            system.write_text(&mut text)?;
            if text != b"\"\"" {
                let out = list.next()?;
                out.write_all(b"\"system\":")?;
                out.write_all(&text)?;
            }
        }
        self.named("temperature", "temperature", list)?;
        self.named("stop_sequences", "stop", list)?;
        let offers = self
            .catalog
            .as_ref()
            .map_or(&[][..], |catalog| &catalog.offers);
        if !offers.is_empty() {
            list.next()?.write_all(b"\"tools\":[")?;
            let mut items = List::new(list.end());
            for offer in offers {
                messages::tool(offer.schema, offer.is_deferred, items.next()?)?;
            }
            list.end().write_all(b"]")?;
        }
        Ok(omitted)
    }

    /// Writes a member of the config under its wire name. False where the config has none.
    fn named(&self, name: &str, logged: &str, list: &mut List<'_>) -> io::Result<bool> {
        let Some(value) = self.config.and_then(|config| config.get(logged)) else {
            return Ok(false);
        };
        list.member(name, value)?;
        Ok(true)
    }

    fn effort(&self) -> Effort<'log> {
        match self.config.and_then(|config| config.get("reasoningEffort")) {
            None => Effort::Unknown,
            Some(effort) if effort.is_str("off") => Effort::Off,
            Some(effort) => Effort::Named(effort),
        }
    }

    fn speech(&self, message: MessageIx) -> Option<Speech<'_, 'log>> {
        Speech::of(
            self.request.session(),
            message,
            &self.manner,
            self.catalog.as_ref(),
            self.request.offloaded(message),
        )
    }

    fn layout(&self) -> Layout<()> {
        let mut layout = Layout::new();
        let mut weigh = |message: MessageIx, units: &mut Vec<Unit<()>>| {
            let count = self.speech(message).map_or(0, |speech| speech.count());
            units.extend((0..count).map(|part| Unit {
                message,
                part: part as u32,
                what: (),
            }));
        };
        let surface = Surface {
            session: self.request.session(),
            messages: self.request.surface(),
            in_place: &[],
            manner: &self.manner,
        };
        layout.extend(&surface, 0, &mut weigh);
        layout
    }

    fn chat_messages(&self, omitted: &mut Omitted, list: &mut List<'_>) -> io::Result<()> {
        if let Some(text) = self.request.system() {
            chat::system(text, list.next()?)?;
        }
        for message in self.request.prefix() {
            for part in chat::prefix_parts(message) {
                omitted.images |= part.has_images();
                part.write(self.manner.answers, &[], list.next()?)?;
            }
        }
        for message in self.request.surface() {
            let Some(speech) = self.speech(*message) else {
                continue;
            };
            for part in speech.chat() {
                omitted.images |= part.has_images();
                speech.write_chat(&part, list.next()?)?;
            }
        }
        Ok(())
    }

    /// Writes the history, with neighbours of one voice in one message. What the system says stands alone.
    fn merged(
        &self,
        layout: &Layout<()>,
        omitted: &mut Omitted,
        list: &mut List<'_>,
    ) -> io::Result<()> {
        let mut units = layout.units.iter().peekable();
        while let Some(unit) = units.next() {
            let Some(speech) = self.speech(unit.message) else {
                continue;
            };
            let voice = Voice::of(speech.role);
            let out = list.next()?;
            voice.open(out)?;
            let mut blocks = List::new(out);
            omitted.images |= speech.has_images();
            speech.write_blocks(&mut blocks)?;
            let joins = |unit: &&Unit<()>| {
                voice != Voice::System
                    && self
                        .speech(unit.message)
                        .is_none_or(|next| Voice::of(next.role) == voice)
            };
            while let Some(next) = units.next_if(joins) {
                if let Some(speech) = self.speech(next.message) {
                    omitted.images |= speech.has_images();
                    speech.write_blocks(&mut blocks)?;
                }
            }
            Voice::close(blocks.end())?;
        }
        Ok(())
    }
}

fn thinking(kind: &str, list: &mut List<'_>) -> io::Result<()> {
    write!(list.next()?, "\"thinking\":{{\"type\":\"{kind}\"}}")
}
