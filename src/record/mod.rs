//! One line's envelope with every value as a raw span, and the JSON text rules of the harness's engine.
//!
//! **Takes** a `Line`. **Gives** a [`Record`] or a [`RecordDefect`]; values as [`Raw`], strings as [`Text`].
//! **Never** knows a version or an event, recurses on nesting, or holds a value in another form than its bytes.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod deltas;
mod digest;
mod envelope;
mod escape;
mod fast;
mod fast_chunk;
mod fast_run;
mod joined;
mod jumps;
mod keys;
mod members;
mod names;
mod nesting;
mod number;
mod odd;
mod packed;
mod pointer;
mod print;
mod printed;
#[cfg(test)]
mod properties;
mod raw;
mod scan;
mod second;
mod sources;
mod survey;
mod text;
mod validate;

pub use deltas::{Delta, DeltaKind, DeltaRun, PackedDefect, PackedFault};
pub use envelope::{Record, RecordDefect, Scratch, Traits};
pub use fast::Scan;
pub use fast_chunk::Edge;
pub use members::{Elements, Members};
pub use names::without_content;
pub use number::MAX_SAFE_INTEGER;
pub use packed::PackedRow;
pub use pointer::{MOST_LEVELS, pointer_at};
pub use printed::Printed;
pub use raw::{JsonError, Kind, Raw};
pub use sources::{Ranges, SourceSeqs};
pub use text::{Text, TextBuf, print_str};
