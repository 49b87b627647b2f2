//! The tables of a view as text, without what differs from run to run: times, ids, and where the
//! sources are.

use std::collections::HashMap;

use crate::view::{Operation, Poll, Resource, Task, View};

/// Writes the tables. Tasks are numbered in the order in which they were spawned. Resources are
/// numbered by type, and operations by function, so that one more of a type changes no other names.
///
/// `with_sizes`: also the sizes of futures and closures.
pub(crate) fn write(view: &View, with_sizes: bool) -> String {
    let (tasks, resources, operations) = (view.tasks(), view.resources(), view.operations());
    let names = Names {
        tasks: name(tasks.iter().map(|task| (task.id, "t"))),
        resources: name(resources.iter().map(|resource| (resource.id, &*resource.concrete_type))),
        operations: name(operations.iter().map(|operation| (operation.id, &*operation.source))),
    };
    let mut lines = Vec::new();
    lines.extend(tasks.iter().map(|task| names.line_of_task(task, with_sizes)));
    lines.extend(resources.iter().map(|resource| names.line_of_resource(resource)));
    lines.extend(operations.iter().map(|operation| names.line_of_operation(operation)));
    lines.extend(names.lines_of_polls(view));
    lines.join("\n") + "\n"
}

/// The names in the table, by the console's ids, in the table's order.
struct Names {
    tasks: HashMap<u64, Name>,
    resources: HashMap<u64, Name>,
    operations: HashMap<u64, Name>,
}

/// The place in the list, and the text.
type Name = (usize, String);

fn name<'a>(things: impl Iterator<Item = (u64, &'a str)>) -> HashMap<u64, Name> {
    let mut counts = HashMap::new();
    let mut next = |kind| {
        let count = counts.entry(kind).or_insert(0);
        *count += 1;
        format!("{kind}{}{count}", if kind == "t" { "" } else { "-" })
    };
    things.enumerate().map(|(place, (id, kind))| (id, (place, next(kind)))).collect()
}

/// The text of a line of the programs: it stays the same where lines are added above it. Another
/// place is returned unchanged.
fn source(place: &str) -> String {
    let line = place.strip_prefix("programs.rs:").and_then(|line| line.parse().ok());
    let text = |line: usize| include_str!("programs.rs").lines().nth(line.checked_sub(1)?);
    line.and_then(text).map_or(place.to_owned(), |text| format!("`{}`", text.trim()))
}

impl Names {
    fn line_of_task(&self, task: &Task, with_sizes: bool) -> String {
        let mut words = vec![self.task(Some(task.id)), task.kind.clone()];
        words.extend(Some(format!("{:?}", task.name)).filter(|_| !task.name.is_empty()));
        words.extend(Some(format!("fn={}", task.closure)).filter(|_| !task.closure.is_empty()));
        words.extend(task.sizes.iter().filter(|_| with_sizes).cloned());
        words.extend([task.target.clone(), source(&task.place)]);
        words.push(format!("polls={} wakes={} self_wakes={}", task.polls, task.wakes, task.self_wakes));
        // The subscriber does not count wakers that another thread drops after the end of the task.
        words.extend(Some(format!("wakers={}", task.wakers)).filter(|_| !task.has_ended));
        let flags = [
            (task.is_running, "running"),
            (task.is_awakened && !task.has_ended, "awakened"),
            (task.is_lost(), "lost"),
            (task.has_ended, "ended"),
        ];
        words.extend(flags.iter().filter(|(is, _)| *is).map(|(_, flag)| (*flag).to_owned()));
        words.join(" ")
    }

    fn line_of_resource(&self, resource: &Resource) -> String {
        let mut words = vec![self.resource(Some(resource.id))];
        words.extend([resource.kind.clone(), resource.target.clone(), source(&resource.place)]);
        words.extend(resource.parent.map(|parent| format!("in {}", self.resource(Some(parent)))));
        words.extend(Some("internal".to_owned()).filter(|_| resource.is_internal));
        words.push(format!("{{{}}}", resource.attributes.join(" ")));
        words.extend(Some("ended".to_owned()).filter(|_| resource.has_ended));
        words.join(" ")
    }

    fn line_of_operation(&self, operation: &Operation) -> String {
        let mut words = vec![self.operation(Some(operation.id)), operation.target.clone()];
        words.push(format!("on {} by {}", self.resource(operation.resource), self.task(operation.task)));
        words.extend(operation.parent.map(|parent| format!("in {}", self.operation(Some(parent)))));
        words.push(format!("polls={} {{{}}}", operation.polls, operation.attributes.join(" ")));
        words.extend(Some("ended".to_owned()).filter(|_| operation.has_ended));
        words.join(" ")
    }

    fn lines_of_polls(&self, view: &View) -> Vec<String> {
        let line = |(poll, count): (&Poll, &u64)| {
            let (resource, operation) = (self.resource(poll.resource), self.operation(poll.operation));
            let ready = if poll.is_ready { "ready" } else { "pending" };
            format!("{operation} on {resource} by {}: {} {ready} {count}", self.task(poll.task), poll.name)
        };
        let mut polls: Vec<_> = view.polls().iter().collect();
        polls.sort_by_key(|(poll, _)| {
            let place = |names: &HashMap<u64, Name>, id: Option<u64>| Some(names.get(&id?)?.0);
            let operation = place(&self.operations, poll.operation);
            let resource = place(&self.resources, poll.resource);
            (operation, resource, place(&self.tasks, poll.task), &poll.name, poll.is_ready)
        });
        polls.into_iter().map(line).collect()
    }

    fn task(&self, id: Option<u64>) -> String {
        text(&self.tasks, id)
    }

    fn resource(&self, id: Option<u64>) -> String {
        text(&self.resources, id)
    }

    fn operation(&self, id: Option<u64>) -> String {
        text(&self.operations, id)
    }
}

fn text(names: &HashMap<u64, Name>, id: Option<u64>) -> String {
    id.and_then(|id| names.get(&id)).map_or("-".to_owned(), |(_, text)| text.clone())
}
