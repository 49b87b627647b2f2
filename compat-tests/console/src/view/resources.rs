//! What a console knows of the resources of a program, and of the operations on them.

use std::collections::{BTreeMap, HashMap};

use console_api::resources::resource::kind::{Kind, Known};
use console_api::{Attribute, async_ops, resources};

use super::{Names, place, time};

#[derive(Debug, Default)]
pub(super) struct Resources {
    resources: BTreeMap<u64, resources::Resource>,
    resource_stats: HashMap<u64, resources::Stats>,
    operations: BTreeMap<u64, async_ops::AsyncOp>,
    operation_stats: HashMap<u64, async_ops::Stats>,
    polls: BTreeMap<Poll, u64>,
}

/// A line of the console's list of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The console's number of it.
    pub id: u64,
    /// The type, such as "Mutex".
    pub concrete_type: String,
    /// "timer" or another word.
    pub kind: String,
    /// The target of the span.
    pub target: String,
    /// The file's name and the line.
    pub place: String,
    /// Whether it is a part of another one, which a program doesn't see.
    pub is_internal: bool,
    /// The resource in which it was made.
    pub parent: Option<u64>,
    /// Its state, such as "permits=1", in alphabetical order.
    pub attributes: Vec<String>,
    /// Whether it was dropped.
    pub has_ended: bool,
}

/// A line of the console's list of operations on a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The console's number of it.
    pub id: u64,
    /// The function, such as "Mutex::lock".
    pub source: String,
    /// The target of the span.
    pub target: String,
    /// The resource.
    pub resource: Option<u64>,
    /// The task that polled it last.
    pub task: Option<u64>,
    /// The operation of which it is a part.
    pub parent: Option<u64>,
    /// How often it was polled.
    pub polls: u64,
    /// Its state, such as "permits_requested=1", in alphabetical order.
    pub attributes: Vec<String>,
    /// Whether it was dropped.
    pub has_ended: bool,
}

/// What polls of a resource are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poll {
    /// The resource.
    pub resource: Option<u64>,
    /// The operation.
    pub operation: Option<u64>,
    /// The task.
    pub task: Option<u64>,
    /// The function, such as "poll_acquire".
    pub name: String,
    /// Whether the operation was ready.
    pub is_ready: bool,
}

impl Resources {
    pub(super) fn add_resources(&mut self, update: resources::ResourceUpdate) {
        self.resources.extend(update.new_resources.into_iter().filter_map(|new| Some((new.id?.id, new))));
        self.resource_stats.extend(update.stats_update);
        for poll in update.new_poll_ops {
            let key = Poll {
                resource: poll.resource_id.map(|id| id.id),
                operation: poll.async_op_id.map(|id| id.id),
                task: poll.task_id.map(|id| id.id),
                name: poll.name,
                is_ready: poll.is_ready,
            };
            *self.polls.entry(key).or_default() += 1;
        }
    }

    pub(super) fn add_operations(&mut self, update: async_ops::AsyncOpUpdate) {
        self.operations.extend(update.new_async_ops.into_iter().filter_map(|new| Some((new.id?.id, new))));
        self.operation_stats.extend(update.stats_update);
    }

    pub(super) fn resources(&self, names: &Names) -> Vec<Resource> {
        let known = self.resources.iter().filter_map(|(id, resource)| {
            let stats = self.resource_stats.get(id)?;
            let shown = Resource {
                id: *id,
                concrete_type: resource.concrete_type.clone(),
                kind: kind(resource),
                target: names.target(resource.metadata),
                place: place(resource.location.as_ref()),
                is_internal: resource.is_internal,
                parent: resource.parent_resource_id.map(|id| id.id),
                attributes: attributes(&stats.attributes, names),
                has_ended: stats.dropped_at.is_some(),
            };
            Some((time(stats.created_at), shown))
        });
        in_order(known)
    }

    pub(super) fn operations(&self, names: &Names) -> Vec<Operation> {
        let known = self.operations.iter().filter_map(|(id, operation)| {
            let stats = self.operation_stats.get(id)?;
            let shown = Operation {
                id: *id,
                source: operation.source.clone(),
                target: names.target(operation.metadata),
                resource: operation.resource_id.map(|id| id.id),
                task: stats.task_id.map(|id| id.id),
                parent: operation.parent_async_op_id.map(|id| id.id),
                polls: stats.poll_stats.map_or(0, |polls| polls.polls),
                attributes: attributes(&stats.attributes, names),
                has_ended: stats.dropped_at.is_some(),
            };
            Some((time(stats.created_at), shown))
        });
        in_order(known)
    }

    pub(super) fn polls(&self) -> &BTreeMap<Poll, u64> {
        &self.polls
    }
}

fn kind(resource: &resources::Resource) -> String {
    match resource.kind.as_ref().and_then(|kind| kind.kind.clone()) {
        Some(Kind::Known(kind)) if kind == Known::Timer as i32 => "timer".to_owned(),
        Some(Kind::Known(kind)) => kind.to_string(),
        Some(Kind::Other(kind)) => kind,
        None => "-".to_owned(),
    }
}

fn attributes(attributes: &[Attribute], names: &Names) -> Vec<String> {
    let mut shown: Vec<_> = attributes
        .iter()
        .filter_map(|attribute| {
            let field = attribute.field.as_ref()?;
            let value = field.value.as_ref()?;
            Some(format!("{}={value}{}", names.of(field)?, attribute.unit.as_deref().unwrap_or("")))
        })
        .collect();
    shown.sort();
    shown
}

fn in_order<T, K: Ord>(known: impl Iterator<Item = (K, T)>) -> Vec<T> {
    let mut known: Vec<_> = known.collect();
    known.sort_by(|(one, _), (other, _)| one.cmp(other));
    known.into_iter().map(|(_, shown)| shown).collect()
}
