//! Writes small logs event by event, for tests that need one of a certain build.

use std::fmt::Write;

/// A log that grows.
pub(crate) struct Log {
    text: String,
    seq: u64,
}

impl Log {
    /// A log of a version, with its header line.
    pub(crate) fn new(version: u8) -> Log {
        let seeded = if version < 2 {
            ""
        } else {
            r#""isSeeded":false,"#
        };
        let text = format!(
            r#"{{"type":"session","version":{version},"id":"s","createdAt":1,"cwd":"/w",{seeded}"delegationDepth":0}}"#
        );
        Log {
            text: text + "\n",
            seq: 0,
        }
    }

    /// Adds an event; gives its number. `more` stands behind `data`: `,"surfaceOp":"append"`.
    pub(crate) fn event(&mut self, kind: &str, data: &str, more: &str) -> u64 {
        let seq = self.seq;
        let line = format!(r#"{{"type":"{kind}","seq":{seq},"time":1,"data":{data}{more}}}"#);
        writeln!(self.text, "{line}").expect("memory");
        self.seq += 1;
        seq
    }

    /// Opens turn 1 and its step 1, under a header.
    pub(crate) fn begin(&mut self) {
        self.event("turn/start", r#"{"turn":1}"#, "");
        self.event("step/start", r#"{"turn":1,"step":1}"#, "");
        self.header(0, "");
    }

    /// Adds a header whose model has a number. `more` stands behind the config: `,"tools":[…]`.
    pub(crate) fn header(&mut self, model: u64, more: &str) -> u64 {
        let reason = if model == 0 { "initial" } else { "change" };
        let config = format!(r#"{{"provider":"p","model":"m{model}"}}"#);
        let data = format!(r#"{{"header":{{"config":{config}{more}}},"reason":"{reason}"}}"#);
        self.event("request/header", &data, "")
    }

    /// Adds a user message. `surface` is a `surfaceOp` and what belongs to it.
    pub(crate) fn user(&mut self, content: &str, surface: &str) -> u64 {
        let id = self.seq;
        let data = format!(
            r#"{{"content":[{content}],"source":{{"kind":"user"}},"role":"user","id":"u{id}"}}"#
        );
        self.event("user/message", &data, &format!(",{surface}"))
    }

    /// The whole log.
    pub(crate) fn text(self) -> String {
        self.text
    }
}
