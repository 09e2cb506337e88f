//! The only room that knows what a version is: detect, decode, settle.
//!
//! **Takes** records and, at the log's end, what the fold saw. **Gives** a [`Generation`] from the header line, [`Event`]s from the
//! records behind it, and a [`Derivation`] for each attempt. **Never** judges: what is wrong goes into the sink as a fact.
//!
//! [`Event`]: crate::event::Event

mod body;
mod chunk;
mod decode;
mod detect;
mod draft;
mod fast;
mod generation;
mod header_shape;
mod ledger;
mod message;
mod name;
mod settle;
mod shape;
mod storage;
mod surface;
mod v0;
mod v1;
mod v2;
mod v3;
mod v4;
mod vocabulary;

pub use decode::Decoder;
pub use detect::{Detected, SessionHeader, Support, detect};
pub use generation::{FORMATS, Format, Generation, Interface};
pub use settle::{AnswerStyle, Derivation, Derived, Era, Guess, Order, Settlement, settle};
pub use storage::{StorageError, decode_storage_record};
