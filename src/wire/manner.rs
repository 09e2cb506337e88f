//! What decides how one request's messages stand on the wire.
//!
//! **Takes** a request and its log's interface. **Gives** a [`Manner`], equal for requests that write equal messages equally.
//! **Never** looks at a message.

use xxhash_rust::xxh3::xxh3_128;

use crate::dialect::{AnswerStyle, Interface};
use crate::record::Raw;
use crate::request::Request;

/// How a request's messages stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// What is spoken.
    pub interface: Interface,
    /// How answers are repeated (chat completions).
    pub answers: AnswerStyle,
    /// Whether injected context stands between tags.
    pub tags: bool,
    /// Whether a later system prompt stays in the history (Messages).
    pub in_history: bool,
    /// The model, as a digest: signatures of another one are left out (Messages).
    pub(super) model: u128,
}

impl Manner {
    /// The manner of a request.
    pub fn of(request: &Request<'_, '_>, interface: Interface) -> Manner {
        let derived = request.derived();
        let model = model(request);
        let is_messages = interface == Interface::Messages;
        Manner {
            interface,
            answers: derived.answers,
            tags: derived.tags,
            in_history: is_messages && request.in_history().unwrap_or_else(|| is_flash(model)),
            model: model.filter(|_| is_messages).map_or(0, name_digest),
        }
    }
}

/// The model of a request, as it stands in its header.
pub(super) fn model<'log>(request: &Request<'_, 'log>) -> Option<Raw<'log>> {
    config(request)?.get("model")
}

/// The call config of a request.
pub(super) fn config<'log>(request: &Request<'_, 'log>) -> Option<Raw<'log>> {
    request.header().raw.get("config")
}

/// Whether the catalog's flash model is meant.
pub(super) fn is_flash(model: Option<Raw<'_>>) -> bool {
    model
        .and_then(Raw::text)
        .is_some_and(|name| name.to_lossy().contains("flash"))
}

/// A name as a digest of its printed text.
pub(super) fn name_digest(name: Raw<'_>) -> u128 {
    xxh3_128(&name.printed())
}
