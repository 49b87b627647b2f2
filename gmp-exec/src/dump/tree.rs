//! Which task waits for which.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::info::{Named, Short, TaskInfo};
use super::waits::WaitsFor;
use super::walk::Tasks;
use crate::task::Id;

/// The tasks that wait for other tasks, and those that they wait for; see [`Tasks::tree`].
///
/// `Display` writes a line per task. A task stands below the one that waits for it, two columns to
/// the right.
#[derive(Clone, Debug)]
pub struct TaskTree {
    tasks: HashMap<Id, TaskInfo>,
    /// Tasks that wait for a task, and for which no task waits.
    roots: Vec<Id>,
}

impl Tasks {
    /// Which tasks wait for which other ones, as far as that is known: a task that awaits several
    /// handles in one poll shows the first one, and the tasks of a
    /// [`JoinSet`](crate::task::JoinSet) are not shown below the task that waits for the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// use gmp_exec::{runtime::Handle, spawn, task::yield_now, time::sleep};
    ///
    /// spawn(async {
    ///     let inner = spawn(sleep(std::time::Duration::from_secs(60)));
    ///     inner.await
    /// });
    /// // task 64, spawned at src/main.rs:3, waits for task 65
    /// //   task 65, spawned at src/main.rs:4, waits for a timer in 60.0 s
    /// while Handle::current().tasks().tree().to_string().lines().count() < 2 {
    ///     yield_now().await;
    /// }
    /// # });
    /// ```
    pub fn tree(self) -> TaskTree {
        TaskTree::of(self.collect())
    }
}

impl TaskTree {
    fn of(all: Vec<TaskInfo>) -> TaskTree {
        let below: HashSet<Id> = all.iter().filter_map(awaited).collect();
        let takes_part = |task: &TaskInfo| below.contains(&task.id) || awaited(task).is_some();
        let tasks: HashMap<Id, TaskInfo> = all.into_iter().filter(takes_part).map(|task| (task.id, task)).collect();
        let mut roots: Vec<Id> = tasks.keys().copied().filter(|id| !below.contains(id)).collect();
        roots.extend(first_of_each_cycle(&tasks, &roots));
        roots.sort();
        TaskTree { tasks, roots }
    }
}

/// The task that `task` waits for.
fn awaited(task: &TaskInfo) -> Option<Id> {
    match task.waits_for {
        Some(WaitsFor::Task(id)) => Some(id),
        _ => None,
    }
}

/// Tasks that wait for each other in a circle have no root. The one that was spawned first stands
/// at the top.
fn first_of_each_cycle(tasks: &HashMap<Id, TaskInfo>, roots: &[Id]) -> Vec<Id> {
    let mut seen: HashSet<Id> = roots.iter().flat_map(|root| chain(tasks, *root)).map(|task| task.id).collect();
    let mut rest: Vec<Id> = tasks.keys().copied().filter(|id| !seen.contains(id)).collect();
    rest.sort();
    rest.retain(|id| {
        let is_first = !seen.contains(id);
        seen.extend(chain(tasks, *id).iter().map(|task| task.id));
        is_first
    });
    rest
}

/// A task, the one that it waits for, the one that this one waits for, and so on, each once.
fn chain(tasks: &HashMap<Id, TaskInfo>, first: Id) -> Vec<&TaskInfo> {
    let mut seen = HashSet::new();
    let next = |task: &&TaskInfo| awaited(task).and_then(|id| tasks.get(&id));
    std::iter::successors(tasks.get(&first), next).take_while(|task| seen.insert(task.id)).collect()
}

impl fmt::Display for TaskTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for root in &self.roots {
            for (depth, task) in chain(&self.tasks, *root).into_iter().enumerate() {
                write!(f, "{:indent$}task {}{}, ", "", task.id, Named(&task.name), indent = depth * 2)?;
                write!(f, "spawned at {}, ", Short(task.location))?;
                match task.waits_for {
                    Some(wait) => writeln!(f, "waits {wait}")?,
                    None => writeln!(f, "{}", task.state)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn id(id: u64) -> Id {
        Id::from_u64(id).unwrap()
    }

    /// The tasks 1 to `count`, some of which wait for others: the lines, without the places.
    fn lines(count: u64, waits: &[(u64, u64)]) -> Vec<String> {
        let awaited: HashMap<u64, u64> = waits.iter().copied().collect();
        let task = |number: u64| TaskInfo {
            waits_for: awaited.get(&number).map(|awaited| WaitsFor::Task(id(*awaited))),
            ..TaskInfo::waiting(id(number))
        };
        let text = TaskTree::of((1..=count).map(task).collect()).to_string();
        let line = |line: &str| {
            let (task, rest) = line.split_once(", spawned at ").unwrap();
            format!("{task}, {}", rest.split_once(", ").unwrap().1)
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn a_task_stands_below_the_one_that_waits_for_it() {
        let expected = ["task 2, waits for task 1", "  task 1, waits for task 4", "    task 4, waiting"];
        assert_eq!(lines(5, &[(2, 1), (1, 4)]), expected);
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_shown_once() {
        let expected = ["task 1, waits for task 3", "  task 3, waits for task 2", "    task 2, waits for task 1"];
        assert_eq!(lines(3, &[(1, 3), (3, 2), (2, 1)]), expected);
    }

    #[test]
    fn a_task_that_is_gone_is_named_by_the_one_that_waits() {
        assert_eq!(lines(1, &[(1, 9)]), ["task 1, waits for task 9"]);
        assert!(lines(3, &[]).is_empty());
    }
}
