//! What a message adds to a prompt, as lengths and digests that outlive its bytes.
//!
//! **Takes** a message while its line is alive. **Gives** [`Parts`]: one [`Piece`] per wire message and per way that builds differ in.
//! **Never** keeps a byte.

use std::cell::Cell;
use std::io::{self, Write};
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_128;

use super::blocks::List;
use super::chat;
use super::manner::{Manner, name_digest};
use super::messages::{self, Surroundings, Voice};
use crate::dialect::{AnswerStyle, Interface};
use crate::event::{Message, Role};
use crate::fold::MessageFact;
use crate::record::Raw;

/// The bytes of one segment, as length and digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    // Two halves: a `u128` would align the lists of pieces to 16 bytes.
    digest: [u64; 2],
    len: u32,
}

impl Piece {
    /// The piece that these bytes are.
    pub(super) fn of(bytes: &[u8]) -> Piece {
        let digest = xxh3_128(bytes);
        Piece {
            digest: [(digest >> 64) as u64, digest as u64],
            len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        }
    }

    /// Its length in bytes.
    pub fn len(self) -> u64 {
        u64::from(self.len)
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// XXH3 of its bytes, 128 bits.
    pub fn digest(self) -> u128 {
        u128::from(self.digest[0]) << 64 | u128::from(self.digest[1])
    }
}

/// What one message adds to a prompt, in every way that a request may send it.
#[derive(Clone, Debug)]
pub struct Parts(Shape);

#[derive(Clone, Debug)]
enum Shape {
    /// It is never sent.
    Nothing,
    /// One wire message, the same in every build.
    One(Piece),
    /// Several wire messages, the same in every build.
    Several(Box<[Piece]>),
    /// An answer, by [`AnswerStyle`].
    Answer(Box<[Piece; 3]>),
    /// Injected text, without and with tags.
    Injected(Box<[Piece; 2]>),
    /// An answer with signatures, which only its own model is sent.
    Signed(Box<Signed>),
    /// A system prompt of the Messages interface: beside the messages, and among them.
    Prompt(Box<[Piece; 2]>),
    /// It changes by what comes after it, and is kept.
    Changing,
}

#[derive(Clone, Debug)]
struct Signed {
    model: u128,
    signed: Piece,
    bare: Piece,
}

impl Parts {
    /// The wire messages as a request sends them; absent where they must be made of the message itself.
    pub(super) fn pieces(&self, manner: &Manner) -> Option<&[Piece]> {
        Some(match &self.0 {
            Shape::Nothing => &[],
            Shape::One(piece) => std::slice::from_ref(piece),
            Shape::Several(pieces) => pieces,
            Shape::Answer(styles) => pick(&styles[..], manner.answers as usize),
            Shape::Injected(ways) => pick(&ways[..], usize::from(manner.tags)),
            Shape::Signed(answer) if answer.model == manner.model => {
                std::slice::from_ref(&answer.signed)
            }
            Shape::Signed(answer) => std::slice::from_ref(&answer.bare),
            Shape::Prompt(places) => pick(&places[..], 1),
            Shape::Changing => return None,
        })
    }

    /// A system prompt's piece beside the messages.
    pub(super) fn beside(&self) -> Option<Piece> {
        match &self.0 {
            Shape::Prompt(places) => Some(places[0]),
            Shape::One(piece) => Some(*piece),
            _ => None,
        }
    }
}

fn pick(ways: &[Piece], at: usize) -> &[Piece] {
    ways.get(at..at + 1).unwrap_or_default()
}

/// Makes [`Parts`] of messages.
#[derive(Debug)]
pub struct Scribe {
    interface: Interface,
    buffer: Vec<u8>,
}

/// A buffer above this is given back behind its message.
const MOST_KEPT: usize = 1 << 20;

impl Scribe {
    /// One for the logs of a generation.
    pub fn new(interface: Interface) -> Scribe {
        Scribe {
            interface,
            buffer: Vec::new(),
        }
    }

    /// The parts of a message. Costs a pass over its content.
    pub fn parts(&mut self, message: &Message<'_>, fact: &MessageFact<'_>) -> Parts {
        let shape = match self.interface {
            _ if fact.images > 0 || message.role == Role::Developer => Shape::Changing,
            Interface::Messages => self.of_messages(message),
            Interface::Chat | Interface::EarlyChat => self.of_chat(message),
        };
        self.buffer.shrink_to(MOST_KEPT);
        Parts(shape)
    }

    fn of_chat(&mut self, message: &Message<'_>) -> Shape {
        let parts = |tags| chat::parts(message.role, message.form, message.object, tags);
        let plain = parts(false);
        if self.interface == Interface::EarlyChat {
            if matches!(message.role, Role::Context | Role::Steering) {
                if let ([plain], [tagged]) = (&plain[..], &parts(true)[..]) {
                    let ways = [plain, tagged];
                    return Shape::Injected(Box::new(
                        ways.map(|part| self.chat_part(part, AnswerStyle::Empty)),
                    ));
                }
            } else if let [answer] = &plain[..]
                && answer.has_styles()
            {
                let styles = [
                    AnswerStyle::Null,
                    AnswerStyle::Empty,
                    AnswerStyle::Reasoning,
                ];
                return Shape::Answer(Box::new(styles.map(|style| self.chat_part(answer, style))));
            }
        }
        if let [only] = &plain[..] {
            return Shape::One(self.chat_part(only, AnswerStyle::Reasoning));
        }
        Shape::of(self.chat(&plain, AnswerStyle::Reasoning))
    }

    fn chat(&mut self, parts: &[chat::Part<'_>], style: AnswerStyle) -> Vec<Piece> {
        parts
            .iter()
            .map(|part| self.chat_part(part, style))
            .collect()
    }

    fn chat_part(&mut self, part: &chat::Part<'_>, style: AnswerStyle) -> Piece {
        self.piece(|out| part.write(style, &[], out))
    }

    fn of_messages(&mut self, message: &Message<'_>) -> Shape {
        let (role, object) = (message.role, message.object);
        if role == Role::System {
            let text = messages::system_text(message.content);
            if text.is_empty() {
                return Shape::Nothing;
            }
            let beside = self.piece(|out| text.print(out));
            let among = self.blocks(role, object, &Surroundings::default());
            return Shape::Prompt(Box::new([beside, among.unwrap_or(beside)]));
        }
        if role == Role::Assistant {
            return self.answer(object);
        }
        self.blocks(role, object, &Surroundings::default())
            .map_or(Shape::Nothing, Shape::One)
    }

    /// An answer of the Messages interface, written once: without its signatures it is the same bytes but for some.
    fn answer(&mut self, object: Raw<'_>) -> Shape {
        let replay = messages::replay(object);
        let at = Cell::new(0);
        let mut signatures: Vec<Range<usize>> = Vec::new();
        let mut is_empty = false;
        let signed = self.piece(|out| {
            let mut out = Counted { out, at: &at };
            Voice::Assistant.open(&mut out)?;
            let mut list = List::new(&mut out);
            let mut sign = |signature: Raw<'_>, out: &mut dyn Write| {
                let from = at.get();
                messages::write_signature(signature, out)?;
                signatures.push(from..at.get());
                Ok(())
            };
            messages::answer(object, replay, &mut sign, &mut list)?;
            is_empty = list.is_empty();
            Voice::close(list.end())
        });
        if is_empty {
            return Shape::Nothing;
        }
        let Some(replay) = replay.filter(|_| !signatures.is_empty()) else {
            return Shape::One(signed);
        };
        for signature in signatures.into_iter().rev() {
            self.buffer.drain(signature);
        }
        Shape::Signed(Box::new(Signed {
            model: name_digest(replay.model),
            signed,
            bare: Piece::of(&self.buffer),
        }))
    }

    /// The piece of a message of the Messages interface; none where it vanishes.
    pub(super) fn blocks(
        &mut self,
        role: Role,
        object: Raw<'_>,
        around: &Surroundings<'_, '_>,
    ) -> Option<Piece> {
        let mut is_empty = false;
        let piece = self.piece(|out| {
            Voice::of(role).open(out)?;
            let mut list = List::new(out);
            messages::blocks(role, object, around, &mut list)?;
            is_empty = list.is_empty();
            Voice::close(list.end())
        });
        (!is_empty).then_some(piece)
    }

    /// The piece that a writer writes.
    pub(super) fn piece(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Piece {
        self.buffer.clear();
        // Writing to memory does not fail.
        let _ = write(&mut self.buffer);
        Piece::of(&self.buffer)
    }
}

impl Shape {
    fn of(pieces: Vec<Piece>) -> Shape {
        match pieces[..] {
            [] => Shape::Nothing,
            [only] => Shape::One(only),
            _ => Shape::Several(pieces.into()),
        }
    }
}

/// Counts what is written.
struct Counted<'o> {
    out: &'o mut dyn Write,
    at: &'o Cell<usize>,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.at.set(self.at.get() + count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
