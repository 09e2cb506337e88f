//! Colours of human text.
//!
//! **Takes** whether colours are wanted, decided in `cli`. **Gives** text between the codes that a terminal understands.
//! **Never** asks the environment.

use std::fmt;

/// Paints, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// ANSI colours.
    Colour,
    /// Plain text.
    Plain,
}

/// A colour with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Errors and failures.
    Bad,
    /// Warnings.
    Doubt,
    /// Notes and code.
    Calm,
    /// What passed.
    Good,
    /// Names and headings.
    Strong,
    /// What may be skipped.
    Faint,
    /// Text that went, and the words of it that differ.
    Gone,
    /// See [`Tone::Gone`].
    GoneWord,
    /// Text that came, and the words of it that differ.
    Came,
    /// See [`Tone::Came`].
    CameWord,
}

impl Paint {
    /// The text in a tone.
    pub(crate) fn tone<T: fmt::Display>(self, tone: Tone, text: T) -> Painted<T> {
        Painted {
            paint: self,
            tone,
            text,
        }
    }
}

/// Text in a tone, see [`Paint::tone`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painted<T> {
    paint: Paint,
    tone: Tone,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.paint == Paint::Plain {
            return self.text.fmt(f);
        }
        let code = match self.tone {
            Tone::Bad => "31",
            Tone::Doubt => "33",
            Tone::Calm => "36",
            Tone::Good => "32",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Gone => "31",
            Tone::GoneWord => "31;7",
            Tone::Came => "32",
            Tone::CameWord => "32;7",
        };
        write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
    }
}
