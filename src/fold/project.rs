//! The harness's projections for other programs: fold a prefix of a log with the code the command line uses.
//!
//! **Takes** a session. **Gives** its surface and the header in force at a boundary. **Never** folds a log that must be rejected.

use super::session::{HeaderFact, MessageIx, OpKind, Session};
use crate::line::Seq;

/// Why a projection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectError {
    /// The log holds a legacy representation; nothing of it may be replayed.
    Legacy {
        /// The first such event.
        seq: Seq,
    },
}

impl std::fmt::Display for ProjectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ProjectError::Legacy { seq } = self;
        write!(
            f,
            "the log holds a legacy header representation at seq {seq}: it is rejected whole"
        )
    }
}

impl std::error::Error for ProjectError {}

/// The surface of all events with a smaller seq than `boundary`, as messages in their order.
///
/// # Errors
///
/// [`ProjectError::Legacy`] if the log holds, before the boundary or behind it, an event that rejects it.
///
/// Costs time in proportion to the operations before the boundary and what they move. *Source*: format reference, section B.0.
///
/// ```
/// use dsh_audit::fold::fold_surface;
/// use dsh_audit::line::Seq;
/// use dsh_audit::log::{Log, ReadOptions};
/// use dsh_audit::source::Source;
///
/// let text = concat!(
///     r#"{"type":"session","version":0,"id":"s","createdAt":1}"#, "\n",
///     r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}}"#, "\n",
///     r#"{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"}},"surfaceOp":"append"}"#, "\n",
///     r#"{"type":"user/message","seq":2,"time":1,"data":{"content":[],"source":{"kind":"user"}},"surfaceOp":"append"}"#, "\n",
/// );
/// let source = Source::from_bytes(text.as_bytes());
/// let log = Log::read(&source, &ReadOptions::default())?;
/// assert_eq!(fold_surface(&log.session, Seq(2))?.len(), 1);
/// assert_eq!(fold_surface(&log.session, Seq(3))?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fold_surface(session: &Session<'_>, boundary: Seq) -> Result<Vec<MessageIx>, ProjectError> {
    refuse_legacy(session)?;
    let mut live: Vec<MessageIx> = Vec::new();
    for op in session.ops.iter().take_while(|op| op.seq < boundary) {
        match op.kind {
            OpKind::Append(message) => live.push(message),
            OpKind::Replace { first, last, with } => {
                let at = |message| live.iter().position(|live| *live == message);
                if let (Some(first), Some(last)) = (at(first), at(last)) {
                    live.splice(first..=last, [with]);
                }
            }
            OpKind::Offload { .. } => {}
        }
    }
    Ok(live)
}

/// The header in force for a request whose messages end at `boundary`: the last snapshot with a smaller seq.
///
/// # Errors
///
/// As [`fold_surface`]. *Source*: format reference, section D.1.
///
/// ```
/// use dsh_audit::fold::fold_request_header;
/// use dsh_audit::line::Seq;
/// use dsh_audit::log::{Log, ReadOptions};
/// use dsh_audit::source::Source;
///
/// // A prefix of a log folds with the same code as the whole.
/// let text = concat!(
///     r#"{"type":"session","version":0,"id":"s","createdAt":1}"#, "\n",
///     r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#, "\n",
///     r#"{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}"#, "\n",
///     r#"{"type":"request/header","seq":2,"time":1,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}"#, "\n",
/// );
/// let source = Source::from_bytes(text.as_bytes());
/// let log = Log::read(&source, &ReadOptions::default())?;
/// let header = fold_request_header(&log.session, Seq(3))?.expect("a header stands at seq 2");
/// assert_eq!(header.seq, Seq(2));
/// assert!(fold_request_header(&log.session, Seq(2))?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fold_request_header<'s, 'log>(
    session: &'s Session<'log>,
    boundary: Seq,
) -> Result<Option<&'s HeaderFact<'log>>, ProjectError> {
    refuse_legacy(session)?;
    let behind = session
        .headers
        .partition_point(|header| header.seq < boundary);
    Ok(behind.checked_sub(1).and_then(|at| session.headers.get(at)))
}

fn refuse_legacy(session: &Session<'_>) -> Result<(), ProjectError> {
    match session.legacy {
        Some(seq) => Err(ProjectError::Legacy { seq }),
        None => Ok(()),
    }
}
