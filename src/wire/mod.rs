//! A request as the provider's body, and as ordered segments of the prompt that the provider's cache sees.
//!
//! **Takes** requests, and [`Parts`] that were made of each message while its line was alive. **Gives** bodies ([`write_body`])
//! and prompts ([`Prompts`]): for each request its segments, and how far it repeats the one before it and any earlier one.
//! **Never** needs a message's bytes for that: a segment's digest is chosen among those in [`Parts`].
//!
//! # What is assumed
//!
//! The log does not name everything that decides what stands on the wire:
//!
//! * Whether a version-4 route takes tools that are added later ([`ToolRoute`]) is told by the model's name.
//! * Whether a route appends prompt updates to the history is logged by most builds; where it is not, the model's name tells.
//! * A request of version 2, 3 or 4 is written as that generation's builds do, also when an older build sent it before a migration.
//! * Images are not in the log. Their blocks stand as they are logged, and the body is called approximate.
//! * An empty message neither ends a run of user messages nor takes part in one.
//!
//! *Source*: format reference, section F; generations reference, sections 3 and 7; cache model.

mod blocks;
mod body;
mod catalog;
mod chat;
mod earlier;
mod head;
mod kept;
mod layout;
mod manner;
mod messages;
mod parts;
mod prompt;
mod segment;
mod speech;
mod standing;

pub use body::{Omitted, write_body};
pub use catalog::ToolRoute;
pub use kept::{Broken, Kept};
pub use manner::Manner;
pub use parts::{Parts, Piece, Scribe};
pub use prompt::{Earlier, Prompt, Prompts};
pub use segment::{Segment, SegmentKind};
