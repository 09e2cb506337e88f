//! Family 07: responses against their chunks.
//!
//! **Takes** facts about answers and streams. **Gives** findings 0701 to 0705. **Never** assembles a response.

use super::catalogue::*;
use super::judge::{Case, weaker};
use crate::dialect::Derivation;
use crate::event::Fault;
use crate::finding::Finding;
use crate::record::without_content;

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    Some(match &case.noted.fault {
        Fault::Response { pointer, .. } => {
            // Until 2026-07-27 a plugin's hook could alter an answer after it was assembled.
            let may_be_altered = case.derivation() != Derivation::Identified;
            let found = case.finding(
                &RESPONSE_DIFFERS_FROM_CHUNKS,
                format!(
                    "answer differs from its chunks at {}",
                    without_content(pointer)
                ),
            );
            weaker(found, may_be_altered)
        }
        Fault::Usage => case.finding(&USAGE_DIFFERS, "usage of the answer is not its stream's"),
        Fault::ChunkSources { seq } => {
            let message =
                format!("sourceEventSeqs are not the chunks of the attempt: they part at {seq}");
            case.finding(&SOURCES_ARE_NOT_THE_CHUNKS, message)
        }
        Fault::ResponseAfterFailure => case.finding(
            &RESPONSE_AFTER_FAILURE,
            format!("{} does not fit how its stream ended", case.kind()),
        ),
        Fault::Stream(why) => case.finding(
            &BAD_CHUNK_STREAM,
            format!("chunk stream breaks its grammar: {why}"),
        ),
        _ => return None,
    })
}
