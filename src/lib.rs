//! Reads session logs of the DeepSeek Harness offline and says, byte for byte and step for step, what the model was sent.
//!
//! The data goes one way:
//!
//! ```text
//! source → line → record → dialect → fold → request → wire → analyse → log → rules → finding → verdict → report
//! ```
//!
//! Every room leaves its defects as facts; only `rules` turns them into findings.
//!
//! # Glossary
//!
//! *session* one log · *turn* one exchange with the user · *step* one model response and its tools · *attempt* one call of the
//! provider · *surface* the ordered events that make the conversation · *boundary* the prefix of the log whose surface a request's
//! messages are · *header* the half of a request that is not history · *request* what an attempt sent · *segment* a part of the
//! provider's prompt · *place* where a finding points · *finding* one fault or fact · *level* how much it weighs.

pub mod analyse;
pub mod dialect;
pub mod event;
pub mod finding;
pub mod fold;
pub mod line;
pub mod log;
pub mod record;
pub mod request;
pub mod rules;
pub mod source;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
mod verdict;
