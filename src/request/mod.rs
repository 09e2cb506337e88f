//! What each attempt sent, byte for byte.
//!
//! **Takes** a session and its settlement. **Gives** [`Requests`], a forward walk over the surface's operations, one [`Request`]
//! per attempt. **Never** keeps a request: it is written where it is asked for.
//!
//! Source: format reference, sections C and D; generations reference, section 4.

mod calls;
mod chain;
mod digest;
mod message;
mod options;
mod sent;
mod tool_history;
mod walk;

pub use calls::{Call, Calls, CallsOf, Purpose};
pub(crate) use digest::hex;
pub use digest::{Digests, digest_of, digest_of_bytes, hex_digest_of};
pub use message::{Identity, derive_event_message};
pub use sent::{Request, Touched};
pub use tool_history::ToolUpdate;
pub use walk::Requests;

#[cfg(test)]
mod tests;
