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
//! # For other programs
//!
//! [`log::Log`] folds a log, or a prefix of one, with the code that the command line uses; [`request::Requests`] walks its requests.
//! The projection functions keep the harness's names: [`request::derive_event_message`], [`fold::fold_surface`],
//! [`fold::fold_request_header`], [`fold::canonical_header`], [`fold::header_equals`], [`dialect::decode_storage_record`]. None of
//! them replays a log that holds a legacy representation.
//!
//! ```
//! use dsh_audit::log::{Log, ReadOptions};
//! use dsh_audit::source::Source;
//!
//! let text = concat!(
//!     r#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#, "\n",
//!     r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#, "\n",
//!     r#"{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}"#, "\n",
//!     r#"{"type":"request/header","seq":2,"time":1,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}"#, "\n",
//!     r#"{"type":"step/end","seq":3,"time":2,"data":{"turn":1,"step":1}}"#, "\n",
//! );
//! let source = Source::from_bytes(text.as_bytes());
//! let log = Log::read(&source, &ReadOptions::default())?;
//! let mut requests = log.requests().expect("nothing rejects this log");
//! let request = requests.next_request().expect("the step sent one");
//! let mut options = Vec::new();
//! request.write_options(&mut options)?;
//! assert_eq!(options, br#"{"provider":"p","model":"m","messages":[],"sessionId":"s"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Glossary
//!
//! *session* one log · *turn* one exchange with the user · *step* one model response and its tools · *attempt* one call of the
//! provider · *surface* the ordered events that make the conversation · *boundary* the prefix of the log whose surface a request's
//! messages are · *header* the half of a request that is not history · *request* what an attempt sent · *segment* a part of the
//! provider's prompt · *place* where a finding points · *finding* one fault or fact · *level* how much it weighs.

pub mod analyse;
pub mod compare;
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
pub mod wire;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod report;
#[cfg(feature = "cli")]
mod verdict;
