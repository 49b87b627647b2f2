//! What a console knows of a program, from all updates so far.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use console_api::field::Name;
use console_api::instrument::Update;
use console_api::{Field, Location, MetaId, RegisterMetadata, tasks};

mod resources;

use resources::Resources;
pub use resources::{Operation, Poll, Resource};

/// What a console knows of a program.
#[derive(Debug, Default)]
pub struct View {
    /// When the last update was made.
    now: Option<SystemTime>,
    names: Names,
    tasks: BTreeMap<u64, tasks::Task>,
    task_stats: HashMap<u64, tasks::Stats>,
    resources: Resources,
    /// Events that the subscriber had no room for.
    pub dropped_events: u64,
}

/// The target and the names of fields, by the id of the place in the source.
#[derive(Debug, Default)]
struct Names(HashMap<u64, (String, Vec<String>)>);

/// The kind of a task that stands for a moment.
pub(crate) const MARK: &str = "mark";

/// A line of the console's list of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The console's number of it.
    pub id: u64,
    /// "task", "local", "blocking" or "block_on".
    pub kind: String,
    /// The name, or nothing.
    pub name: String,
    /// The type of a closure, or nothing.
    pub closure: String,
    /// The sizes, as tokio-console has them: "size.bytes=8", and the original size of a future in a
    /// box.
    pub sizes: Vec<String>,
    /// The target of the span.
    pub target: String,
    /// The file's name and the line.
    pub place: String,
    /// How often it was polled. The console counts the drop of the future as another poll.
    pub polls: u64,
    /// How often it was woken.
    pub wakes: u64,
    /// How often it was woken by its own poll.
    pub self_wakes: u64,
    /// How many wakers of it exist.
    pub wakers: i64,
    /// Whether it has ended.
    pub has_ended: bool,
    /// Whether it is being polled.
    pub is_running: bool,
    /// Whether it was woken since its last poll.
    pub is_awakened: bool,
    /// How long it was polled, without the poll that is under way.
    pub busy: Duration,
    /// How long the poll that is under way has taken so far.
    pub polled_for: Duration,
    /// How long it has existed.
    pub total: Duration,
}

impl Task {
    /// Whether tokio-console warns that the task has lost its waker: its rule, in version 0.1.14.
    pub fn is_lost(&self) -> bool {
        !self.has_ended && self.wakers == 0 && !self.is_running && !self.is_awakened
    }
}

impl View {
    pub(crate) fn add(&mut self, update: Update) {
        self.now = time(update.now);
        self.names.add(update.new_metadata.unwrap_or_default());
        if let Some(tasks) = update.task_update {
            self.tasks.extend(tasks.new_tasks.into_iter().filter_map(|task| Some((task.id?.id, task))));
            self.task_stats.extend(tasks.stats_update);
            self.dropped_events += tasks.dropped_events;
        }
        if let Some(resources) = update.resource_update {
            self.dropped_events += resources.dropped_events;
            self.resources.add_resources(resources);
        }
        if let Some(operations) = update.async_op_update {
            self.dropped_events += operations.dropped_events;
            self.resources.add_operations(operations);
        }
    }

    /// All tasks so far, in the order in which they were spawned.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks: Vec<_> = self.tasks.iter().filter_map(|(id, task)| self.task(*id, task)).collect();
        tasks.sort_by_key(|(created, _)| *created);
        tasks.into_iter().map(|(_, task)| task).filter(|task| task.kind != MARK).collect()
    }

    /// All resources so far, in the order in which they were made.
    pub fn resources(&self) -> Vec<Resource> {
        self.resources.resources(&self.names)
    }

    /// All operations on resources so far, in the order in which they began.
    pub fn operations(&self) -> Vec<Operation> {
        self.resources.operations(&self.names)
    }

    /// How often resources were polled.
    pub fn polls(&self) -> &BTreeMap<Poll, u64> {
        self.resources.polls()
    }

    /// How many moments were marked so far.
    pub(crate) fn marks(&self) -> usize {
        self.tasks.iter().filter_map(|(id, task)| self.task(*id, task)).filter(|(_, task)| task.kind == MARK).count()
    }

    /// The task that was spawned in this line of the file.
    pub fn task_of(&self, line: u32) -> Option<Task> {
        self.tasks().into_iter().find(|task| task.place.ends_with(&format!(":{line}")))
    }

    fn task(&self, id: u64, task: &tasks::Task) -> Option<(SystemTime, Task)> {
        let stats = self.task_stats.get(&id)?;
        let polls = stats.poll_stats?;
        let created = time(stats.created_at)?;
        let (begun, ended) = (time(polls.last_poll_started), time(polls.last_poll_ended));
        let dropped = time(stats.dropped_at);
        let now = dropped.or(self.now)?;
        let since = |start: Option<SystemTime>| start.and_then(|start| now.duration_since(start).ok());
        let is_running = dropped.is_none() && begun > ended;
        let field = |name| task.fields.iter().find(|field| self.names.of(field) == Some(name)).map(value);
        let size = |name| Some(format!("{name}={}", field(name)?));
        let shown = Task {
            id,
            kind: field("kind").unwrap_or_default(),
            name: field("task.name").unwrap_or_default(),
            closure: field("fn").unwrap_or_default(),
            sizes: ["original_size.bytes", "size.bytes"].into_iter().filter_map(size).collect(),
            target: self.names.target(task.metadata),
            place: place(task.location.as_ref()),
            polls: polls.polls,
            wakes: stats.wakes,
            self_wakes: stats.self_wakes,
            wakers: stats.waker_clones as i64 - stats.waker_drops as i64,
            has_ended: dropped.is_some(),
            is_running,
            is_awakened: time(stats.last_wake) > begun,
            busy: polls.busy_time.and_then(|busy| busy.try_into().ok()).unwrap_or_default(),
            polled_for: since(begun).filter(|_| is_running).unwrap_or_default(),
            total: since(Some(created)).unwrap_or_default(),
        };
        Some((created, shown))
    }
}

impl Names {
    fn add(&mut self, new: RegisterMetadata) {
        for place in new.metadata {
            if let (Some(id), Some(metadata)) = (place.id, place.metadata) {
                self.0.insert(id.id, (metadata.target, metadata.field_names));
            }
        }
    }

    fn target(&self, place: Option<MetaId>) -> String {
        place.and_then(|id| self.0.get(&id.id)).map(|(target, _)| target.clone()).unwrap_or_default()
    }

    /// The name of a field.
    fn of<'a>(&'a self, field: &'a Field) -> Option<&'a str> {
        match field.name.as_ref()? {
            Name::StrName(name) => Some(name),
            Name::NameIdx(index) => {
                let (_, names) = self.0.get(&field.metadata_id?.id)?;
                names.get(*index as usize).map(String::as_str)
            }
        }
    }
}

fn value(field: &Field) -> String {
    field.value.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// The file's name and the line.
fn place(location: Option<&Location>) -> String {
    let Some(location) = location else { return "-".to_owned() };
    let file = location.file.as_deref().unwrap_or("-");
    let file = file.rsplit('/').next().unwrap_or(file);
    format!("{file}:{}", location.line.unwrap_or(0))
}

fn time(time: Option<prost_types::Timestamp>) -> Option<SystemTime> {
    time.and_then(|time| SystemTime::try_from(time).ok())
}
