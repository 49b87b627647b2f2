//! Tasks that were spawned at one place and do the same, as one line.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::info::{Named, Short, TaskInfo, TaskState};
use super::waits::WaitsFor;
use super::walk::Tasks;
use crate::task::Id;

/// How many ids are kept of a group.
const EXAMPLES: usize = 3;

/// The tasks of a runtime, grouped by where they were spawned, their names, what they do and what
/// kind of event they wait for, the largest group first.
///
/// `Display` writes a line per group.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// use gmp_exec::runtime::{Handle, TaskState};
/// use gmp_exec::{spawn, task::yield_now};
///
/// for _ in 0..3 {
///     spawn(std::future::pending::<()>());
/// }
/// while Handle::current().tasks().filter(|task| task.state == TaskState::Waiting).count() < 3 {
///     yield_now().await;
/// }
/// let text = Handle::current().tasks().groups().to_string();
/// // 3 tasks
/// //   3 waiting, spawned at src/main.rs:6, oldest 0.0 s, 1 poll: tasks 64, 65, 66
/// assert!(text.contains("3 waiting, spawned at "), "{text}");
/// # });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskGroups {
    /// The groups, the one with the most tasks first.
    pub groups: Vec<TaskGroup>,
    /// Tasks that are in no group; see [`Tasks::unseen`].
    pub unseen: usize,
}

/// Tasks that were spawned at one place and do the same.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskGroup {
    /// Where they were spawned.
    pub location: &'static Location<'static>,
    /// The name that they were given by a [`task::Builder`](crate::task::Builder).
    pub name: Option<Box<str>>,
    /// What they do.
    pub state: TaskState,
    /// What they wait for, if that is known: the wait of one of them. Of timers, the earliest one.
    pub waits_for: Option<WaitsFor>,
    /// How many tasks there are.
    pub count: usize,
    /// The [age](TaskInfo::age) of the oldest one; `None` if none has ever waited.
    pub oldest: Option<Duration>,
    /// The longest time for which one of them has held its thread.
    pub stuck: Option<Duration>,
    /// The fewest and the most polls that one of them has had.
    pub polls: (u32, u32),
    /// Some of them.
    pub examples: Vec<Id>,
}

impl Tasks {
    /// Groups all tasks that were not returned yet. This needs memory per group, and not per task.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.handle().tasks().groups().to_string(), "no tasks\n");
    /// ```
    pub fn groups(mut self) -> TaskGroups {
        let mut groups = HashMap::new();
        for info in self.by_ref() {
            let kind = info.waits_for.map(WaitsFor::kind);
            let key = (info.location, info.state, info.name.clone(), kind);
            groups.entry(key).or_insert_with(|| TaskGroup::of(&info)).add(&info);
        }
        let mut groups: Vec<TaskGroup> = groups.into_values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.state, group.location.line()));
        TaskGroups { groups, unseen: self.unseen() }
    }
}

impl TaskGroup {
    /// A group that this task is to be added to.
    fn of(info: &TaskInfo) -> TaskGroup {
        TaskGroup {
            location: info.location,
            name: info.name.clone(),
            state: info.state,
            waits_for: info.waits_for,
            count: 0,
            oldest: None,
            stuck: None,
            polls: (u32::MAX, 0),
            examples: Vec::new(),
        }
    }

    fn add(&mut self, info: &TaskInfo) {
        self.count += 1;
        if let (Some(WaitsFor::Timer(least)), Some(WaitsFor::Timer(left))) = (&mut self.waits_for, info.waits_for) {
            *least = left.min(*least);
        }
        self.oldest = self.oldest.max(info.age);
        self.stuck = self.stuck.max(info.stuck);
        self.polls = (self.polls.0.min(info.polls), self.polls.1.max(info.polls));
        if self.examples.len() < EXAMPLES {
            self.examples.push(info.id);
        }
    }
}

impl fmt::Display for TaskGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count: usize = self.groups.iter().map(|group| group.count).sum();
        match count {
            0 => writeln!(f, "no tasks")?,
            1 => writeln!(f, "1 task")?,
            _ => writeln!(f, "{count} tasks")?,
        }
        self.groups.iter().try_for_each(|group| writeln!(f, "  {group}"))?;
        match self.unseen {
            0 => Ok(()),
            unseen => writeln!(f, "  {unseen} more, most of them queued on a worker for their first poll"),
        }
    }
}

impl fmt::Display for TaskGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}, spawned at {}", self.count, self.state, Named(&self.name), Short(self.location))?;
        match self.waits_for {
            None => {}
            Some(wait) if self.count == 1 => write!(f, ", waits {wait}")?,
            Some(wait) => write!(f, ", wait {}", wait.of_several())?,
        }
        if let Some(oldest) = self.oldest {
            write!(f, ", oldest {:.1} s", oldest.as_secs_f64())?;
        }
        if let Some(stuck) = self.stuck {
            write!(f, ", stuck for {:.1} s", stuck.as_secs_f64())?;
        }
        match self.polls {
            (1, 1) => write!(f, ", 1 poll")?,
            (least, most) if least == most => write!(f, ", {most} polls")?,
            (least, most) => write!(f, ", {least} to {most} polls")?,
        }
        f.write_str(if self.count == 1 { ": task " } else { ": tasks " })?;
        for (index, id) in self.examples.iter().enumerate() {
            write!(f, "{}{id}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(if self.count > self.examples.len() { ", ..." } else { "" })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn group() -> TaskGroup {
        TaskGroup {
            location: Location::caller(),
            name: None,
            state: TaskState::Waiting,
            waits_for: None,
            count: 1,
            oldest: None,
            stuck: None,
            polls: (1, 1),
            examples: vec![Id::from_u64(7).unwrap()],
        }
    }

    fn after_place(group: &TaskGroup) -> String {
        let line = group.to_string();
        line.split_once("groups.rs:").unwrap().1.split_once(|c: char| !c.is_ascii_digit()).unwrap().1.to_owned()
    }

    #[test]
    fn a_line_says_all_that_is_known() {
        let one = group();
        assert!(one.to_string().starts_with("1 waiting, spawned at "), "{one}");
        assert_eq!(after_place(&one), " 1 poll: task 7");
        let waits = TaskGroup { waits_for: Some(WaitsFor::Readable(12)), ..group() };
        assert_eq!(after_place(&waits), " waits for fd 12 to be readable, 1 poll: task 7");
        let named = TaskGroup { name: Some("waits".into()), ..group() };
        assert!(named.to_string().starts_with(r#"1 waiting "waits", spawned at "#), "{named}");
        let many = TaskGroup {
            count: 1_000,
            waits_for: Some(WaitsFor::Timer(Duration::from_secs(3))),
            oldest: Some(Duration::from_millis(12_345)),
            stuck: Some(Duration::from_millis(950)),
            polls: (2, 9),
            examples: [7, 8, 9].map(|id| Id::from_u64(id).unwrap()).into(),
            ..group()
        };
        assert_eq!(
            after_place(&many),
            " wait for timers, the next in 3.0 s, oldest 12.3 s, stuck for 0.9 s, 2 to 9 polls: tasks 7, 8, 9, ..."
        );
        assert_eq!(after_place(&TaskGroup { polls: (0, 0), ..group() }), " 0 polls: task 7");
    }

    #[test]
    fn the_head_counts_the_tasks_and_the_foot_what_was_not_seen() {
        let text = |groups, unseen| TaskGroups { groups, unseen }.to_string();
        assert_eq!(text(Vec::new(), 0), "no tasks\n");
        assert_eq!(text(Vec::new(), 2), "no tasks\n  2 more, most of them queued on a worker for their first poll\n");
        assert!(text(vec![group()], 0).starts_with("1 task\n  1 waiting, "));
        assert!(text(vec![group(), group()], 0).starts_with("2 tasks\n"));
    }
}
