//! Log-only events that refer to each other: commands, approvals, dispatches, to-do lists, titles.
//!
//! **Takes** their data, in order. **Gives** what breaks a rule whose condition is exact. **Never** judges behind a lost row: what it
//! refers to may have been there.
//!
//! Source: format reference, section B.2 (H-TITLE, H-CMD, H-APPROVAL, H-DISPATCH, H-WORKFLOW, H-TODO).

use std::collections::{HashMap, HashSet};

use crate::record::Raw;

/// What was opened so far, by the printed ids.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    commands: HashSet<Vec<u8>>,
    approvals: HashSet<Vec<u8>>,
    runs: HashSet<Vec<u8>>,
    /// Root of each dispatched call.
    roots: HashMap<Vec<u8>, Vec<u8>>,
    /// Whether a row was lost.
    partial: bool,
}

/// A member and what is wrong with it, as a predicate.
pub(super) type Breach = (&'static str, &'static str);

impl Ledger {
    /// A row was lost: from here on nothing is said to be missing.
    pub(super) fn lose(&mut self) {
        self.partial = true;
    }

    /// Takes an event; gives what breaks a rule.
    pub(super) fn check(&mut self, name: &[u8], data: Raw<'_>) -> Option<Breach> {
        let breach = match name {
            b"command/run" => self.opens(|ledger| &mut ledger.commands, data, "commandId"),
            b"command/done" => self.refers(|ledger| &ledger.commands, data, "commandId"),
            b"approval/asked" => self.opens(|ledger| &mut ledger.approvals, data, "id"),
            b"approval/decided" => self.refers(|ledger| &ledger.approvals, data, "id"),
            b"tool-workflow/run-start" => self.opens(|ledger| &mut ledger.runs, data, "runId"),
            b"tool-workflow/run-end"
            | b"tool-workflow/agent-start"
            | b"tool-workflow/agent-end" => self.refers(|ledger| &ledger.runs, data, "runId"),
            b"tool/code-dispatch-start"
            | b"tool/code-dispatch"
            | b"tool/ptc-dispatch-start"
            | b"tool/ptc-dispatch" => self.dispatches(data),
            b"todo/write" => todos(data),
            b"session/title" => title(data),
            _ => None,
        };
        breach.filter(|_| !self.partial)
    }

    fn opens(
        &mut self,
        ids: fn(&mut Ledger) -> &mut HashSet<Vec<u8>>,
        data: Raw<'_>,
        member: &'static str,
    ) -> Option<Breach> {
        let id = printed(data, member)?;
        (!ids(self).insert(id)).then_some((member, "opens what was opened before"))
    }

    fn refers(
        &self,
        ids: fn(&Ledger) -> &HashSet<Vec<u8>>,
        data: Raw<'_>,
        member: &'static str,
    ) -> Option<Breach> {
        let id = printed(data, member)?;
        (!ids(self).contains(&id)).then_some((member, "refers to what was never opened"))
    }

    fn dispatches(&mut self, data: Raw<'_>) -> Option<Breach> {
        let (root, parent) = (printed(data, "rootCallId")?, printed(data, "parentCallId")?);
        let sub = printed(data, "subCallId")?;
        let known = self.roots.entry(sub).or_insert_with(|| root.clone());
        if *known != root {
            return Some(("subCallId", "changes its root"));
        }
        let in_tree = parent == root || self.roots.get(&parent) == Some(&root);
        (!in_tree).then_some(("parentCallId", "is not in its root's tree"))
    }
}

fn printed(data: Raw<'_>, member: &str) -> Option<Vec<u8>> {
    data.get(member).map(|raw| raw.printed().into_owned())
}

fn todos(data: Raw<'_>) -> Option<Breach> {
    let mut seen = HashSet::new();
    for todo in data.get("todos")?.elements() {
        let content = todo.get("content").and_then(Raw::text)?;
        if content.is_blank() || content.trim() != content.bytes() {
            return Some(("todos", "holds an entry that is empty or not trimmed"));
        }
        if !seen.insert(content.bytes().to_vec()) {
            return Some(("todos", "holds an entry twice"));
        }
        let known = ["pending", "in_progress", "completed"];
        if !todo
            .get("status")
            .is_some_and(|status| known.iter().any(|word| status.is_str(word)))
        {
            return Some(("todos", "holds an entry with an unknown status"));
        }
    }
    None
}

fn title(data: Raw<'_>) -> Option<Breach> {
    let by_user = data.get("source")?.get("kind")?.is_str("user");
    let cites = data.get("messageSeqs")?.elements().next().is_some();
    match (by_user, cites) {
        (true, true) => Some((
            "messageSeqs",
            "cites messages for a title that the user gave",
        )),
        (false, false) => Some(("messageSeqs", "cites no message for a title that was made")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ledger: &mut Ledger, name: &str, data: &str) -> Option<Breach> {
        ledger.check(name.as_bytes(), Raw::parse(data.as_bytes()).expect("JSON"))
    }

    #[test]
    fn what_is_done_must_have_begun() {
        let mut ledger = Ledger::default();
        assert_eq!(
            check(&mut ledger, "command/run", r#"{"commandId":"a"}"#),
            None
        );
        assert_eq!(
            check(&mut ledger, "command/done", r#"{"commandId":"a"}"#),
            None
        );
        assert!(check(&mut ledger, "command/done", r#"{"commandId":"b"}"#).is_some());
        assert!(check(&mut ledger, "command/run", r#"{"commandId":"a"}"#).is_some());
        ledger.lose();
        assert_eq!(
            check(&mut ledger, "command/done", r#"{"commandId":"b"}"#),
            None
        );
    }

    #[test]
    fn a_dispatch_stays_under_its_root() {
        let mut ledger = Ledger::default();
        let call = |root: &str, parent: &str, sub: &str| {
            format!(r#"{{"rootCallId":"{root}","parentCallId":"{parent}","subCallId":"{sub}"}}"#)
        };
        let name = "tool/ptc-dispatch-start";
        assert_eq!(check(&mut ledger, name, &call("r", "r", "a")), None);
        assert_eq!(check(&mut ledger, name, &call("r", "a", "b")), None);
        assert!(check(&mut ledger, name, &call("q", "q", "b")).is_some());
        assert!(check(&mut ledger, name, &call("r", "x", "c")).is_some());
    }

    #[test]
    fn lists_and_titles_keep_their_rules() {
        let mut ledger = Ledger::default();
        let mut todo = |content: &str, status: &str| {
            let data = format!(r#"{{"todos":[{{"content":"{content}","status":"{status}"}}]}}"#);
            check(&mut ledger, "todo/write", &data)
        };
        assert_eq!(todo("x", "pending"), None);
        assert!(
            todo(" x", "pending").is_some()
                && todo("", "pending").is_some()
                && todo("x", "soon").is_some()
        );
        let title = |seqs: &str, kind: &str| {
            let data = format!(r#"{{"messageSeqs":{seqs},"source":{{"kind":"{kind}"}}}}"#);
            check(&mut Ledger::default(), "session/title", &data)
        };
        assert_eq!(
            (title("[1]", "fallback"), title("[]", "user")),
            (None, None)
        );
        assert!(title("[]", "provider").is_some() && title("[1]", "user").is_some());
    }
}
