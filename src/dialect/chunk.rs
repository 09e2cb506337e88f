//! One piece of a response: the same in a chunk event of version 0 and in a stream of later versions.
//!
//! **Takes** a chunk object. **Gives** a [`Chunk`]. **Never** knows the pieces around it.
//!
//! Source: format reference, sections B.1 and B.2.

use super::draft::{Draft, shown};
use super::shape::fits;
use super::vocabulary::Ty;
use crate::event::{Chunk, Fault, Scope};
use crate::record::Raw;

/// Finish reasons that known builds write.
const FINISHES: [&str; 5] = ["stop", "tool-calls", "max-tokens", "aborted", "error"];

/// Decodes a chunk and notes what its vocabulary forbids.
pub(super) fn decode<'line>(draft: &mut Draft<'line, '_>, raw: Raw<'line>) -> Chunk<'line> {
    let chunk = Chunk::read(raw);
    if let Chunk::Finish { reason, .. } = chunk {
        match reason.and_then(|reason| reason.get("kind")) {
            Some(kind) if fits(kind, Ty::Text) => {
                if !FINISHES.iter().any(|known| kind.is_str(known)) {
                    draft.unfamiliar("finish reason", kind);
                }
            }
            kind => {
                let word = kind.map(shown).unwrap_or_default();
                let fault = Fault::Vocabulary {
                    what: "finish reason",
                    word,
                };
                draft.note(fault, Scope::Any, reason.unwrap_or(raw));
            }
        }
    }
    chunk
}
