//! The tools that a version-4 request offers, and the developer messages that announce some of them.
//!
//! **Takes** a request. **Gives** its [`Catalog`]. **Never** writes a tool.
//!
//! Source: generations reference, section 7.1.

use std::collections::HashSet;

use super::manner::{is_flash, model};
use crate::event::Role;
use crate::record::Raw;
use crate::request::{Request, ToolUpdate};

/// What a route does with tools that are added behind its first request (`toolUpdate` of the model's catalog entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRoute {
    /// It knows no updates: the tools are the request's own.
    Fixed,
    /// Additions are announced in the history; removals only shorten the list.
    AdditionOnly,
}

impl ToolRoute {
    /// The route of a model. The log does not say: the catalog's flash model takes additions, every other model is taken not to.
    pub fn of(model: Option<Raw<'_>>) -> ToolRoute {
        if is_flash(model) {
            ToolRoute::AdditionOnly
        } else {
            ToolRoute::Fixed
        }
    }
}

/// A tool that is offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<'log> {
    pub(super) schema: Raw<'log>,
    pub(super) is_deferred: bool,
}

/// What a request offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalog<'log> {
    pub(super) offers: Vec<Offer<'log>>,
    /// Per developer message that matters, by its id: the names it announces.
    notices: Vec<(Raw<'log>, Vec<Raw<'log>>)>,
    /// Whether it takes developer messages on the surface into account.
    pub(super) reads_surface: bool,
}

impl<'log> Catalog<'log> {
    /// The catalog of a request.
    pub(super) fn of(request: &Request<'_, 'log>) -> Catalog<'log> {
        let tools = request.tools();
        let (declared, updates) = request.tool_history();
        let route = ToolRoute::of(model(request));
        let is_whole = updates.is_empty() || {
            let ids = developer_ids(request);
            let stands =
                |update: &ToolUpdate<'_>| ids.iter().any(|id| id.same_text(update.message_id));
            updates.iter().all(stands)
        };
        if route == ToolRoute::Fixed || !is_whole {
            let offers = tools.map(|schema| Offer {
                schema,
                is_deferred: route == ToolRoute::AdditionOnly && is_deferred(schema),
            });
            return Catalog {
                offers: offers.collect(),
                notices: Vec::new(),
                reads_surface: route != ToolRoute::Fixed && !updates.is_empty(),
            };
        }
        let active: HashSet<Vec<u8>> = tools.map(name).collect();
        let mut catalog = Catalog {
            reads_surface: !updates.is_empty(),
            ..Catalog::default()
        };
        let mut known = HashSet::new();
        for &schema in declared {
            known.insert(name(schema));
            catalog.offer(schema, is_deferred(schema), &active);
        }
        for update in updates {
            let mut names = Vec::new();
            for &schema in &update.additions {
                if known.insert(name(schema)) && catalog.offer(schema, true, &active) {
                    names.extend(schema.get("name"));
                }
            }
            if !names.is_empty() {
                catalog.notices.push((update.message_id, names));
            }
        }
        catalog
    }

    /// Offers a tool if it is in use.
    fn offer(&mut self, schema: Raw<'log>, is_deferred: bool, active: &HashSet<Vec<u8>>) -> bool {
        let is_active = active.contains(&name(schema));
        if is_active {
            self.offers.push(Offer {
                schema,
                is_deferred,
            });
        }
        is_active
    }

    /// The tools that a developer message announces.
    pub(super) fn notice(&self, message: Raw<'_>) -> &[Raw<'log>] {
        let id = message.get("id");
        let found = self
            .notices
            .iter()
            .find(|(known, _)| id.is_some_and(|id| id.same_text(*known)));
        found.map_or(&[], |(_, names)| names)
    }

    /// Whether two catalogs announce the same in the same messages.
    pub(super) fn announces_like(&self, other: &Catalog<'_>) -> bool {
        let same = |a: &[Raw<'_>], b: &[Raw<'_>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_text(*b))
        };
        self.notices.len() == other.notices.len()
            && self
                .notices
                .iter()
                .zip(&other.notices)
                .all(|((id, names), (other_id, others))| {
                    id.same_text(*other_id) && same(names, others)
                })
    }
}

fn developer_ids<'log>(request: &Request<'_, 'log>) -> Vec<Raw<'log>> {
    let messages = request.surface().iter();
    messages
        .filter_map(|message| request.session().messages.get(message.get()))
        .filter(|fact| fact.role == Role::Developer)
        .filter_map(|fact| fact.raw?.get("id"))
        .collect()
}

fn name(schema: Raw<'_>) -> Vec<u8> {
    schema
        .get("name")
        .map(|name| name.printed().into_owned())
        .unwrap_or_default()
}

fn is_deferred(schema: Raw<'_>) -> bool {
    schema.get("deferLoading").and_then(Raw::as_bool) == Some(true)
}
