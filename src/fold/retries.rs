//! Retries: chains of scheduled and started attempts.
//!
//! **Takes** retry events. **Gives** what breaks the rules. **Never** opens an attempt.
//!
//! Source: format reference, B.2 (H-RETRY). Judged in released turns only.

use std::collections::HashMap;

use super::Fold;
use crate::event::{Event, Fault, Faults, Retry, Scope, StepName};
use crate::record::{Kind as JsonKind, Raw};

const LONGEST_DELAY: f64 = 2_147_483_647.0;

#[derive(Debug, Default)]
pub(super) struct Retries {
    chains: Chains,
    /// Which chain an id belongs to, over the whole log.
    owners: HashMap<Vec<u8>, ChainKey>,
    turn: u64,
    partial: bool,
}

/// A turn and a step.
type StepKey = (u64, u64);

/// Chains of the current turn.
#[derive(Debug, Default)]
struct Chains {
    all: Vec<Chain>,
    by_key: HashMap<ChainKey, usize>,
    /// The first chain of each step and id.
    by_id: HashMap<(StepKey, Option<Vec<u8>>), usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ChainKey {
    step: StepKey,
    provider: Vec<u8>,
    policy: Vec<u8>,
}

#[derive(Debug)]
struct Chain {
    id: Option<Vec<u8>>,
    last: i64,
    started: bool,
}

impl Retries {
    pub(super) fn forget(&mut self) {
        self.chains = Chains::default();
        self.partial = true;
    }
}

impl Chains {
    fn of_key(&mut self, key: &ChainKey) -> Option<&mut Chain> {
        self.all.get_mut(*self.by_key.get(key)?)
    }

    fn of_id(&mut self, step: StepKey, id: Option<Vec<u8>>) -> Option<&mut Chain> {
        self.all.get_mut(*self.by_id.get(&(step, id))?)
    }

    fn push(&mut self, key: ChainKey, chain: Chain) {
        let at = self.all.len();
        let by_id = (key.step, chain.id.clone());
        self.by_id.entry(by_id).or_insert(at);
        self.by_key.insert(key, at);
        self.all.push(chain);
    }
}

fn printed(raw: Option<Raw<'_>>) -> Vec<u8> {
    raw.map(|raw| raw.printed().into_owned())
        .unwrap_or_default()
}

/// What a retry's own members break.
fn members(data: Raw<'_>) -> Option<&'static str> {
    let is = |name: &str, word: &str| data.get(name).is_some_and(|raw| raw.is_str(word));
    let count = |name: &str| data.get(name).and_then(Raw::safe_int);
    let retry = count("retry").unwrap_or(0);
    if retry < 1 {
        return Some("has no retry number from 1 on");
    }
    match (is("mode", "normal"), is("mode", "always")) {
        (true, _) => match count("maxRetries") {
            None => return Some("has no maxRetries"),
            Some(most) if retry > most => return Some("goes beyond maxRetries"),
            Some(_) => {}
        },
        (_, true) if data.get("maxRetries").is_some() => {
            return Some("has maxRetries in mode always");
        }
        (_, true) => {}
        _ => return Some("has no mode"),
    }
    if !data
        .get("delayMs")
        .and_then(Raw::number)
        .is_some_and(|delay| (0.0..=LONGEST_DELAY).contains(&delay))
    {
        return Some("has a delayMs out of range");
    }
    if !data
        .get("failure")
        .is_some_and(|failure| failure.kind() == JsonKind::Object)
    {
        return Some("has no failure");
    }
    (!data
        .get("policyKey")
        .is_some_and(|key| key.kind() == JsonKind::String))
    .then_some("has no policyKey")
}

impl Fold<'_> {
    fn bad_retry(&self, event: &Event<'_>, why: &'static str, faults: &mut Faults) {
        if self.synced {
            faults.note_value(
                Fault::Retry(why),
                Scope::Released,
                event.at,
                event.value,
                event.value,
            );
        }
    }

    pub(super) fn retry(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        retry: &Retry<'_>,
        faults: &mut Faults,
    ) {
        let in_step = self.names_open_step(name);
        if in_step {
            self.cut_attempt(event.time);
        } else {
            let outside = self.turns.open_step().is_none();
            if let Some(evidence) = self.turn_evidence().filter(|_| outside) {
                evidence.retry_outside_step = true;
            }
            if !self.conduct.has_streams {
                self.bad_retry(event, "names a step that is not open", faults);
            }
        }
        // A retry takes its place in the chain, whatever is wrong with it.
        let chain = self.chain(name, retry);
        let why = members(retry.data).or_else(|| self.foreign_provider(retry.data));
        if let Some(why) = why.or(chain) {
            self.bad_retry(event, why, faults);
        }
    }

    fn foreign_provider(&self, data: Raw<'_>) -> Option<&'static str> {
        let header = self
            .headers
            .in_force()
            .and_then(|header| self.session.headers.get(header.get()))?;
        let provider = header.raw.get("config")?.get("provider")?;
        let same = data
            .get("provider")
            .is_some_and(|own| own.same_text(provider));
        (!same).then_some("names another provider than the header")
    }

    /// Extends the retry's chain.
    fn chain(&mut self, name: StepName, retry: &Retry<'_>) -> Option<&'static str> {
        let retries = &mut self.retries;
        if retries.turn != name.turn {
            retries.chains = Chains::default();
            retries.turn = name.turn;
        }
        let (provider, policy) = (
            printed(retry.data.get("provider")),
            printed(retry.data.get("policyKey")),
        );
        let key = ChainKey {
            step: (name.turn, name.step),
            provider,
            policy,
        };
        let number = retry.data.get("retry").and_then(Raw::safe_int).unwrap_or(0);
        let id = retry.id.map(|id| id.printed().into_owned());
        let mut why = None;
        match retries.chains.of_key(&key) {
            Some(chain) => {
                if number != chain.last + 1 {
                    why = Some("does not follow the last of its chain");
                } else if chain.id != id {
                    why = Some("has another retryId than its chain");
                }
                (chain.last, chain.started) = (number, false);
            }
            None => {
                if number != 1 && !retries.partial {
                    why = Some("does not begin its chain with 1");
                }
                let chain = Chain {
                    id: id.clone(),
                    last: number,
                    started: false,
                };
                retries.chains.push(key.clone(), chain);
            }
        }
        if let Some(id) = id
            && *retries.owners.entry(id).or_insert_with(|| key.clone()) != key
        {
            why = why.or(Some("shares its retryId with another chain"));
        }
        why
    }

    pub(super) fn retry_started(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        retry: &Retry<'_>,
        faults: &mut Faults,
    ) {
        if self.names_open_step(name) {
            self.expect_attempt(false);
        }
        let id = retry.id.map(|id| id.printed().into_owned());
        let number = retry.data.get("retry").and_then(Raw::safe_int).unwrap_or(0);
        let step = (name.turn, name.step);
        let why = match self.retries.chains.of_id(step, id) {
            Some(chain) if chain.last == number && !chain.started => {
                chain.started = true;
                return;
            }
            Some(_) => "starts what was not scheduled, or twice",
            None if self.retries.partial => return,
            None => "starts what was not scheduled",
        };
        self.bad_retry(event, why, faults);
    }
}
