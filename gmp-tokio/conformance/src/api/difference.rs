//! Finds the differences between two sets of public items.

use std::collections::BTreeSet;
use std::fmt;

use super::Api;

/// An item or a part of an item that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    /// The name, as in [`Api`].
    pub(crate) name: String,
    pub(crate) change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// tokio has the item, the drop-in doesn't.
    Missing,
    /// Both have the item, with different declarations.
    Other { tokio: BTreeSet<String>, ours: BTreeSet<String> },
    /// Only the drop-in has the item, or some of its declarations.
    Added,
}

/// All differences. If one side lacks a whole item, its parts are not listed one by one.
pub(crate) fn find(tokio: &Api, ours: &Api) -> Vec<Difference> {
    let names: BTreeSet<&String> = tokio.keys().chain(ours.keys()).collect();
    let difference = |name: &String| {
        let change = match (tokio.get(name), ours.get(name)) {
            (Some(tokio), Some(ours)) if tokio == ours => return None,
            (Some(tokio), Some(ours)) if tokio.is_subset(ours) => Change::Added,
            (Some(tokio), Some(ours)) => Change::Other { tokio: tokio - ours, ours: ours - tokio },
            (Some(_), None) if !is_on_page(name, ours) => return None,
            (Some(_), None) => Change::Missing,
            (None, _) if !is_on_page(name, tokio) => return None,
            (None, _) => Change::Added,
        };
        Some(Difference { name: name.clone(), change })
    };
    names.into_iter().filter_map(difference).collect()
}

/// Whether `name` is an item, or a part of an item that `api` has.
fn is_on_page(name: &str, api: &Api) -> bool {
    name.split_once('#').is_none_or(|(item, _)| api.contains_key(item))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { name, change } = self;
        match change {
            Change::Missing => write!(f, "missing: {name}"),
            Change::Added => write!(f, "only here: {name}"),
            Change::Other { tokio, ours } => {
                write!(f, "different: {name}")?;
                tokio.iter().try_for_each(|text| write!(f, "\n  tokio: {text}"))?;
                ours.iter().try_for_each(|text| write!(f, "\n  ours:  {text}"))
            }
        }
    }
}
