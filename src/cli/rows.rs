//! The rows of `reconstruct`: one per request, and one per call that is not the loop's.
//!
//! **Takes** a log that may be answered for. **Gives** its rows, and what they leave open. **Never** holds more than one body.

use std::io::{self, Write};

use crate::dialect::Interface;
use crate::log::Log;
use crate::report::{Paint, RequestRow, Sending, What};
use crate::request::{Call, Calls, Digests, Request, digest_of_bytes};
use crate::wire::{Omitted, write_body};

use super::discover::Found;
use super::plan::shown;
use super::values::StepArg;

/// How a row looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON with what was sent.
    Whole,
    /// JSON without it.
    Numbers,
    /// A row for a person.
    Text(Paint),
    /// What was sent alone.
    Raw,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// How a row looks.
    pub(crate) form: Form,
    /// Whether the provider's body is meant, or the harness's options.
    pub(crate) what: What,
    /// Whether other calls are rows too.
    pub(crate) calls: bool,
    /// The only request that is wanted.
    pub(crate) step: Option<StepArg>,
    /// Whether rows name their log.
    pub(crate) names_paths: bool,
}

/// What the rows of a log leave open.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The request that was asked for does not exist: a message.
    pub(crate) missing: Option<String>,
    /// What the rows do not say: messages.
    pub(crate) notes: Vec<String>,
}

struct Rows<'w> {
    found: &'w Found,
    wish: &'w Wish,
    interface: Interface,
    omitted: Omitted,
    inexact_calls: usize,
}

/// Writes the rows of a log.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write(
    log: &Log<'_>,
    found: &Found,
    wish: &Wish,
    out: &mut dyn Write,
) -> io::Result<Left> {
    let mut left = Left::default();
    let (Some(mut requests), Some(header)) = (log.requests(), log.header) else {
        return Ok(left);
    };
    let wanted = match wish.step {
        None => None,
        Some(step) => match place_of(log, step) {
            Some(place) => Some(place),
            None => {
                left.missing = Some(no_such_request(step, found));
                return Ok(left);
            }
        },
    };
    if let Form::Text(paint) = wish.form {
        RequestRow::write_heading(paint, wish.names_paths.then_some(found.path.as_path()), out)?;
    }
    let mut rows = Rows {
        found,
        wish,
        interface: header.generation.interface(),
        omitted: Omitted::default(),
        inexact_calls: 0,
    };
    let mut calls = log.calls().filter(|_| wish.calls);
    let mut digests = Digests::default();
    let mut at = 0;
    while let Some(request) = requests.next_request() {
        if let Some(calls) = &mut calls {
            let boundary = request.derived().boundary;
            while calls.next_seq().is_some_and(|seq| seq < boundary) {
                rows.next_call(log, calls, out)?;
            }
        }
        if wanted.is_none_or(|wanted| wanted == at) {
            // One request alone continues no digest.
            let mut alone = Digests::default();
            let digests = if wanted.is_some() {
                &mut alone
            } else {
                &mut digests
            };
            rows.request(&request, digests, out)?;
        }
        at += 1;
    }
    if let Some(calls) = &mut calls {
        while calls.next_seq().is_some() {
            rows.next_call(log, calls, out)?;
        }
    }
    left.notes = rows.notes(calls.map_or(0, |calls| calls.unknown()));
    Ok(left)
}

/// The place of a request among the log's: of the attempt that is named, else of the step's last one.
fn place_of(log: &Log<'_>, wanted: StepArg) -> Option<usize> {
    log.settlement.requests.iter().rposition(|request| {
        let step = log.session.steps.get(request.step.get());
        let turn = step.and_then(|step| log.session.turns.get(step.turn.get()));
        let is_step = step.is_some_and(|step| step.number == wanted.step)
            && turn.is_some_and(|turn| turn.number == wanted.turn);
        is_step
            && wanted
                .attempt
                .is_none_or(|attempt| attempt == u64::from(request.number))
    })
}

fn no_such_request(step: StepArg, found: &Found) -> String {
    let attempt = step
        .attempt
        .map_or(String::new(), |attempt| format!(", attempt {attempt}"));
    format!(
        "no request of turn {}, step {}{attempt} in {}",
        step.turn,
        step.step,
        shown(&found.path)
    )
}

impl Rows<'_> {
    fn request(
        &mut self,
        request: &Request<'_, '_>,
        digests: &mut Digests,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut body = Vec::new();
        if self.wish.what == What::Body {
            let omitted = write_body(request, self.interface, &mut body)?;
            self.omitted = self.omitted.and(omitted);
        }
        if self.wish.form == Form::Raw {
            return match self.wish.what {
                What::Body => out.write_all(&body),
                What::Options => request.write_options(&mut out),
            };
        }
        let derived = request.derived();
        let row = RequestRow {
            path: self.path(),
            step: Some((request.turn().number, Some(request.step().number))),
            attempt: u64::from(derived.number),
            purpose: None,
            boundary: derived.boundary.0,
            header: Some(request.header().seq.0),
            sending: Sending {
                inherited: derived.inherited,
                unsent: derived.unsent,
            },
            messages: Some(request.surface().len() as u64),
            sha256: &match self.wish.what {
                What::Body => digest_of_bytes(&body),
                What::Options => digests.next(request)?,
            },
        };
        self.row(&row, out, |mut out| match self.wish.what {
            What::Body => out.write_all(&body),
            What::Options => request.write_options(&mut out),
        })
    }

    fn next_call(
        &mut self,
        log: &Log<'_>,
        calls: &mut Calls<'_, '_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(call) = calls.next_call() else {
            return Ok(());
        };
        self.inexact_calls += usize::from(!call.is_exact());
        let mut options = Vec::new();
        call.write_options(&mut options)?;
        let row = RequestRow {
            path: self.path(),
            step: step_of(log, &call),
            attempt: 1,
            purpose: Some(call.purpose().word()),
            boundary: call.seq().0,
            header: call
                .header()
                .and_then(|header| log.session.headers.get(header.get()))
                .map(|header| header.seq.0),
            sending: Sending {
                inherited: call.is_inherited(),
                unsent: false,
            },
            messages: None,
            sha256: &digest_of_bytes(&options),
        };
        self.row(&row, out, |out| out.write_all(&options))
    }

    fn row(
        &self,
        row: &RequestRow<'_>,
        out: &mut dyn Write,
        content: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.wish.form {
            Form::Text(paint) => row.write_text(paint, out),
            Form::Numbers => row.write_json(None, out),
            Form::Whole | Form::Raw => row.write_json(Some((self.wish.what, &content)), out),
        }
    }

    fn path(&self) -> Option<&std::path::Path> {
        self.wish.names_paths.then_some(self.found.path.as_path())
    }

    fn notes(&self, unknown_calls: usize) -> Vec<String> {
        let path = shown(&self.found.path);
        let mut notes = Vec::new();
        if self.omitted.thinking {
            notes.push(format!(
                "{path}: thinking is left out where the log names no effort"
            ));
        }
        if self.omitted.max_tokens {
            notes.push(format!(
                "{path}: max_tokens is left out where the log names no limit"
            ));
        }
        if self.omitted.images {
            notes.push(format!(
                "{path}: bodies with images are approximate: image blocks stand as they are logged"
            ));
        }
        if self.inexact_calls > 0 {
            notes.push(format!(
                "{path}: the last message of a compaction call had a random id, which is left out"
            ));
        }
        if unknown_calls > 0 {
            notes.push(format!(
                "{path}: {unknown_calls} compaction calls of builds with other prompts are left out"
            ));
        }
        notes
    }
}

/// The turn and the step that a call stands in.
fn step_of(log: &Log<'_>, call: &Call<'_, '_>) -> Option<(u64, Option<u64>)> {
    let turn = log.session.turns.get(call.turn()?.get())?;
    let step = call
        .step()
        .and_then(|step| log.session.steps.get(step.get()));
    Some((turn.number, step.map(|step| step.number)))
}
