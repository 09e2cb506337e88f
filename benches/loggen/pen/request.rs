//! What a request needs besides history: system prompt, header, news about tools, context window.
//!
//! **Takes** the wanted [`Head`]. **Gives** the events by which a writer records the difference to what is logged
//! (format.md D.1; format-generations.md 3 and 4.3). **Never** writes one that records nothing.

use std::io::{self, Write};

use super::super::header::{Head, Model, PROVIDER, Tool};
use super::super::json::Json;
use super::super::shape::Shape;
use super::message::print_text;
use super::surface::{Node, Role};
use super::{Pen, Sources};

impl<W: Write> Pen<W> {
    /// Brings the system prompt on the surface up to date, where it stands there.
    pub(super) fn settle_system(&mut self, head: &Head) -> io::Result<()> {
        if !self.shape.system_on_surface() {
            return Ok(());
        }
        let systems: Vec<(usize, String)> = self
            .surface
            .systems()
            .map(|(at, text)| (at, text.to_owned()))
            .collect();
        let Some((_, head_text)) = systems.first() else {
            return self.write_system(&head.system, None);
        };
        let other_tools = self
            .logged
            .as_ref()
            .is_some_and(|logged| logged.tools != head.tools);
        let restart =
            self.replaced || (other_tools && (self.shape == Shape::V3 || head.model == Model::Pro));
        if head.model == Model::Flash && !restart {
            let effective = systems.iter().rev().find(|(_, text)| !text.is_empty());
            return match effective {
                Some((_, text)) if *text == head.system => Ok(()),
                _ => self.write_system(&head.system, None),
            };
        }
        for (at, text) in systems.iter().skip(1) {
            if !text.is_empty() {
                self.write_system("", Some(*at))?;
            }
        }
        if *head_text == head.system {
            Ok(())
        } else {
            self.write_system(&head.system, Some(0))
        }
    }

    fn write_system(&mut self, text: &str, over: Option<usize>) -> io::Result<()> {
        let id = self.own_id();
        let (shape, turn, step) = (self.shape, self.turn, self.step);
        let node = Node {
            role: Role::System(text.to_owned()),
            tokens: text.len() as u64 / 4,
        };
        let data = |json: &mut Json| {
            json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
            json.raw(",\"message\":{\"role\":\"system\",\"content\":[");
            if !text.is_empty() {
                print_text(json, text);
            }
            json.raw("],\"source\":").raw(if shape == Shape::V4 {
                "{\"kind\":\"system-prompt\"}"
            } else {
                "{\"kind\":\"plugin\",\"plugin\":\"@deepseek-ai/dsh-system-prompt\"}"
            });
            json.raw(",\"id\":").text(&id).raw("}}");
        };
        match over {
            None => self.append("system/message", Sources::None, node, data)?,
            Some(at) => {
                let shadowed = [self.surface.seq(at)];
                self.replace("system/message", &shadowed, (at, at), node, data)?
            }
        };
        Ok(())
    }

    /// Logs the header if the writer would, then what follows from it.
    pub(super) fn settle_header(&mut self, head: &Head) -> io::Result<()> {
        let series = self.shape.series() && self.replaced;
        let previous = self.logged.take();
        let changed = previous
            .as_ref()
            .is_none_or(|logged| !self.same_header(logged, head));
        let (reason, starts) = match (&previous, self.fresh_instance) {
            (None, _) => ("initial", false),
            (Some(_), true) => ("resume", series && self.shape == Shape::V4),
            (Some(_), false) if changed => ("change", series),
            (Some(_), false) if series => ("series", false),
            _ => ("", false),
        };
        self.weigh(previous.as_ref(), head);
        if !reason.is_empty() {
            let seq = self.write_header(head, reason, starts)?;
            if self.shape == Shape::V4 && reason != "series" {
                self.write_tool_news(previous.as_ref(), head, seq)?;
            }
        }
        self.write_window(head.model)?;
        self.fresh_instance = false;
        self.replaced = false;
        self.logged = Some(head.clone());
        Ok(())
    }

    /// Whether a header with `logged` tells a reader the same as one with `head`.
    fn same_header(&self, logged: &Head, head: &Head) -> bool {
        let system = self.shape.system_on_surface() || logged.system == head.system;
        let config = logged.model == head.model
            && (logged.max_effort == head.max_effort || !self.shape.identified());
        system && config && logged.tools == head.tools
    }

    /// Tells the meter what the header changes for the provider's cache.
    fn weigh(&mut self, previous: Option<&Head>, head: &Head) {
        let system = if self.shape.system_on_surface() {
            0
        } else {
            head.system.len() as u64 / 4
        };
        let prefix = self.prefix.as_ref().map_or(0, |text| text.len() as u64 / 4);
        self.meter
            .set_header_tokens(head.tool_tokens() + system + prefix);
        let Some(previous) = previous else { return };
        let other_system = !self.shape.system_on_surface() && previous.system != head.system;
        if previous.model != head.model || previous.tools != head.tools || other_system {
            self.meter.break_at(0);
        }
    }

    fn write_header(&mut self, head: &Head, reason: &str, starts: bool) -> io::Result<u64> {
        let (shape, prefix) = (self.shape, self.prefix.clone());
        self.event("request/header", |json| {
            json.raw("{\"header\":{\"config\":");
            if shape.identified() {
                head.print_config(json);
            } else {
                json.raw("{\"model\":").text(head.model.name()).raw("}");
            }
            if !shape.system_on_surface() {
                json.raw(",\"system\":").text(&head.system);
            }
            json.raw(",\"tools\":");
            head.print_tools(json);
            if let Some(prefix) = prefix {
                json.raw(",\"messagePrefix\":[{\"role\":\"user\",\"content\":[");
                print_text(json, &prefix);
                json.raw("]}]");
            }
            json.raw("},\"reason\":").text(reason).raw(if starts {
                ",\"startsSeries\":true}"
            } else {
                "}"
            });
        })
    }

    fn write_tool_news(
        &mut self,
        previous: Option<&Head>,
        head: &Head,
        header_seq: u64,
    ) -> io::Result<()> {
        let Some(previous) = previous else {
            return Ok(());
        };
        let has = |tools: &[Tool], name| tools.iter().any(|tool| tool.name == name);
        let added = head
            .tools
            .iter()
            .filter(|tool| !has(&previous.tools, tool.name))
            .map(|tool| ("addition", tool.name));
        let removed = previous
            .tools
            .iter()
            .filter(|tool| !has(&head.tools, tool.name))
            .map(|tool| ("removal", tool.name));
        let news: Vec<_> = added.chain(removed).collect();
        if news.is_empty() {
            return Ok(());
        }
        let id = self.own_id();
        let (turn, step) = (self.turn, self.step);
        let adds = news.iter().any(|(what, _)| *what == "addition");
        let node = Node {
            role: Role::Developer,
            tokens: 12 * news.len() as u64,
        };
        self.append("developer/message", Sources::None, node, |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
            json.raw(",\"message\":{\"source\":{\"kind\":\"tool-registry\"},\"content\":[")
                .list(news, |json, (what, name)| {
                    json.raw("{\"type\":\"tool-")
                        .raw(what)
                        .raw("\",\"toolName\":")
                        .text(name)
                        .raw("}");
                });
            json.raw("],\"role\":\"developer\",\"id\":")
                .text(&id)
                .raw("}");
            if adds {
                json.raw(",\"headerSeq\":").int(header_seq);
            }
            json.raw("}");
        })?;
        Ok(())
    }

    /// Logs the model's context window when the route is new.
    fn write_window(&mut self, model: Model) -> io::Result<()> {
        if !self.shape.identified() || self.context == Some(model.name()) {
            return Ok(());
        }
        self.context = Some(model.name());
        let in_history = self.shape.system_on_surface() && model == Model::Flash;
        self.event("request/context", |json| {
            json.raw("{\"provider\":")
                .text(PROVIDER)
                .raw(",\"model\":")
                .text(model.name());
            json.raw(",\"contextWindow\":1000000");
            json.raw(if in_history {
                ",\"systemPromptUpdate\":\"in-history\"}"
            } else {
                "}"
            });
        })?;
        Ok(())
    }
}
