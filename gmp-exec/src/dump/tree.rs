//! Which task waits for which.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::circles::{Circle, circles};
use super::info::{Named, Short, TaskInfo};
use super::walk::Tasks;
use crate::task::Id;
use crate::task::join_set::tasks_of_set;

/// So many tasks of one set have a line, and those that wait for other tasks.
const MOST_OF_SET: usize = 10;

/// The tasks that wait for other tasks, and those that they wait for; see [`Tasks::tree`].
///
/// `Display` writes a line per circle of tasks that wait for each other (`deadlock: task 66, ..., waits
/// to lock a tokio Mutex created at src/main.rs:7 (locked by task 67 at src/main.rs:9); task 67, ...`), and
/// then a line per task, once. A task stands below the task that waits for it, two
/// columns to the right. For a [`JoinSet`](crate::task::JoinSet) with many tasks, `Display` writes
/// those that wait for other tasks, a few more, and the number of the others.
#[derive(Clone, Debug)]
pub struct TaskTree {
    tasks: HashMap<Id, TaskInfo>,
    /// What stands below a task, if anything does.
    below: HashMap<Id, Below>,
    /// Tasks that wait for a task, and for which no task waits.
    roots: Vec<Id>,
    circles: Vec<Circle>,
}

/// The tasks that a task waits for.
#[derive(Clone, Debug)]
struct Below {
    /// Those that wait for tasks come first.
    tasks: Vec<Id>,
    /// How many tasks have no line.
    others: usize,
}

impl Tasks {
    /// Which tasks wait for which other ones, as far as that is known. The tasks of a
    /// [`JoinSet`](crate::task::JoinSet) stand below the task that waits for the set, except those
    /// on other runtimes.
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
        let again = self.again();
        let all: Vec<TaskInfo> = self.collect();
        let circles = circles(&all, || again.collect());
        let awaited = all.iter().map(|task| (task.id, awaited_by(task))).collect();
        TaskTree { circles, ..TaskTree::of(all, awaited) }
    }
}

/// The tasks that `task` waits for. They may have ended, or be tasks of another runtime.
fn awaited_by(task: &TaskInfo) -> Vec<Id> {
    let of_sets = task.rolls.iter().flat_map(|roll| tasks_of_set(*roll));
    task.blocked_by().chain(of_sets).chain(task.holders.iter().copied()).collect()
}

impl TaskTree {
    /// `awaited`: the tasks that each task waits for, whether they are among `all` or not.
    fn of(all: Vec<TaskInfo>, mut awaited: HashMap<Id, Vec<Id>>) -> TaskTree {
        let known: HashSet<Id> = all.iter().map(|task| task.id).collect();
        awaited.values_mut().for_each(|ids| ids.retain(|id| known.contains(id)));
        awaited.retain(|_, ids| !ids.is_empty());
        let waits: HashSet<Id> = awaited.keys().copied().collect();
        let below: HashMap<Id, Below> = awaited.into_iter().map(|(id, ids)| (id, Below::of(ids, &waits))).collect();
        let is_below: HashSet<Id> = below.values().flat_map(|below| &below.tasks).copied().collect();
        let takes_part = |task: &TaskInfo| {
            task.blocked_by().next().is_some() || is_below.contains(&task.id) || below.contains_key(&task.id)
        };
        let tasks: HashMap<Id, TaskInfo> = all.into_iter().filter(takes_part).map(|task| (task.id, task)).collect();
        let roots = tasks.keys().copied().filter(|id| !is_below.contains(id)).collect();
        let mut tree = TaskTree { tasks, below, roots, circles: Vec::new() };
        tree.roots.extend(tree.first_of_each_cycle());
        tree.roots.sort();
        tree
    }

    /// Tasks that wait for each other in a circle have no root. The one that was spawned first
    /// stands at the top.
    fn first_of_each_cycle(&self) -> Vec<Id> {
        let mut seen = HashSet::new();
        self.roots.iter().for_each(|root| drop(self.lines(*root, &mut seen)));
        let mut rest: Vec<Id> = self.tasks.keys().copied().filter(|id| !seen.contains(id)).collect();
        rest.sort();
        rest.retain(|id| !self.lines(*id, &mut seen).is_empty());
        rest
    }

    /// A task and those below it that were not seen yet, with their depths. A chain of tasks may be
    /// long, so this is no recursion.
    fn lines(&self, root: Id, seen: &mut HashSet<Id>) -> Vec<(usize, Line<'_>)> {
        let mut lines = Vec::new();
        let mut next = vec![(0, Next::Task(root))];
        while let Some((depth, what)) = next.pop() {
            let id = match what {
                Next::Task(id) => id,
                Next::Others(count) => {
                    lines.push((depth, Line::Others(count)));
                    continue;
                }
            };
            let Some(task) = self.tasks.get(&id).filter(|_| seen.insert(id)) else { continue };
            lines.push((depth, Line::Task(task)));
            if let Some(below) = self.below.get(&id) {
                next.extend(below.steps().map(|what| (depth + 1, what)));
            }
        }
        lines
    }
}

impl Below {
    /// `waits`: the tasks that wait for tasks.
    fn of(mut tasks: Vec<Id>, waits: &HashSet<Id>) -> Below {
        tasks.sort_by_key(|id| (!waits.contains(id), *id));
        let waiting = tasks.iter().filter(|id| waits.contains(id)).count();
        let shown = tasks.len().min(waiting + MOST_OF_SET);
        let others = tasks.split_off(shown).len();
        Below { tasks, others }
    }

    /// The steps that show it, the last step first.
    fn steps(&self) -> impl Iterator<Item = Next> {
        let others = (self.others > 0).then_some(Next::Others(self.others));
        others.into_iter().chain(self.tasks.iter().rev().map(|id| Next::Task(*id)))
    }
}

/// What a walk over the tree comes to.
#[derive(Clone, Copy, Debug)]
enum Next {
    Task(Id),
    /// So many tasks of a set have no line.
    Others(usize),
}

#[derive(Debug)]
enum Line<'a> {
    Task(&'a TaskInfo),
    Others(usize),
}

impl fmt::Display for TaskTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.circles.iter().try_for_each(|circle| writeln!(f, "{circle}"))?;
        let mut seen = HashSet::new();
        for root in &self.roots {
            for (depth, line) in self.lines(*root, &mut seen) {
                writeln!(f, "{:indent$}{line}", "", indent = depth * 2)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = match self {
            Line::Task(task) => task,
            Line::Others(count) => return write!(f, "{count} more of the set"),
        };
        write!(f, "task {}{}, spawned at {}, ", task.id, Named(&task.name), Short(task.location))?;
        match task.waits_for[..] {
            [] => write!(f, "{}", task.state),
            _ => write!(f, "waits {}", task.waits()),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::waits::WaitsFor;
    use super::*;

    fn id(id: u64) -> Id {
        Id::from_u64(id).unwrap()
    }

    /// The tasks 1 to `count`, some of which wait for others, or for sets of others.
    fn tree(count: u64, waits: &[(u64, &[u64])]) -> TaskTree {
        let waits: HashMap<u64, &[u64]> = waits.iter().copied().collect();
        let wait = |ids: &&[u64]| match ids {
            [one] => WaitsFor::Task(id(*one)),
            set => WaitsFor::AnyOf(set.len()),
        };
        let task = |number: u64| TaskInfo {
            waits_for: waits.get(&number).map(wait).into_iter().collect(),
            ..TaskInfo::waiting(id(number))
        };
        let awaited = |ids: &[u64]| ids.iter().map(|number| id(*number)).collect();
        let awaited = waits.iter().map(|(number, ids)| (id(*number), awaited(ids))).collect();
        TaskTree::of((1..=count).map(task).collect(), awaited)
    }

    /// The lines, without the places.
    fn lines(count: u64, waits: &[(u64, &[u64])]) -> Vec<String> {
        let line = |line: &str| match line.split_once(", spawned at ") {
            Some((task, rest)) => format!("{task}, {}", rest.split_once(", ").unwrap().1),
            None => line.to_owned(),
        };
        tree(count, waits).to_string().lines().map(line).collect()
    }

    #[test]
    fn a_task_stands_below_the_one_that_waits_for_it() {
        let expected = ["task 2, waits for task 1", "  task 1, waits for task 4", "    task 4, waiting"];
        assert_eq!(lines(5, &[(2, &[1]), (1, &[4])]), expected);
    }

    #[test]
    fn the_tasks_of_a_set_stand_below_the_one_that_waits_for_the_set() {
        let expected = [
            "task 1, waits for any of 3 tasks",
            "  task 4, waits for task 5",
            "    task 5, waiting",
            "  task 2, waiting",
            "  task 3, waiting",
        ];
        assert_eq!(lines(6, &[(1, &[2, 3, 4]), (4, &[5])]), expected);
    }

    #[test]
    fn of_a_large_set_those_that_wait_for_tasks_and_some_others_are_shown() {
        let set: Vec<u64> = (2..=100).collect();
        let lines = lines(101, &[(1, &set), (99, &[101])]);
        assert_eq!(
            lines[..3],
            ["task 1, waits for any of 99 tasks", "  task 99, waits for task 101", "    task 101, waiting"]
        );
        assert_eq!(lines[3..].len(), MOST_OF_SET + 1);
        assert_eq!((&*lines[3], &*lines[13]), ("  task 2, waiting", "  88 more of the set"));
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_shown_once() {
        let expected = ["task 1, waits for task 3", "  task 3, waits for task 2", "    task 2, waits for task 1"];
        assert_eq!(lines(3, &[(1, &[3]), (3, &[2]), (2, &[1])]), expected);
        let expected = ["task 1, waits for any of 2 tasks", "  task 2, waits for task 1", "  task 3, waiting"];
        assert_eq!(lines(3, &[(1, &[3, 2]), (2, &[1])]), expected);
    }

    #[test]
    fn a_task_for_which_two_tasks_wait_is_shown_once() {
        let expected = ["task 1, waits for task 3", "  task 3, waiting", "task 2, waits for task 3"];
        assert_eq!(lines(3, &[(1, &[3]), (2, &[3])]), expected);
    }

    #[test]
    fn a_task_that_is_gone_is_named_by_the_one_that_waits() {
        assert_eq!(lines(1, &[(1, &[9])]), ["task 1, waits for task 9"]);
        assert!(lines(1, &[(1, &[8, 9])]).is_empty());
        assert!(lines(3, &[]).is_empty());
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let waits: Vec<[u64; 1]> = (2..=100_000).map(|number| [number]).collect();
        let waits: Vec<(u64, &[u64])> = waits.iter().enumerate().map(|(at, ids)| (at as u64 + 1, &ids[..])).collect();
        let tree = tree(100_000, &waits);
        assert_eq!(tree.lines(id(1), &mut HashSet::new()).len(), 100_000);
    }
}
