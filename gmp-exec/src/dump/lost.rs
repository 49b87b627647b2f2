//! Tasks that can never run again, in words: `Handle::lost_tasks`.

use std::fmt;
use std::panic::Location;

use super::info::{Named, Short};
use crate::lost;
use crate::sched::Scheduler;
use crate::task::Id;

/// The tasks of a runtime that can never run again; see
/// [`Handle::lost_tasks`](crate::runtime::Handle::lost_tasks).
///
/// `Display` writes a line per task. Nothing is written if there is none.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LostTasks {
    /// The tasks, in the order in which they were spawned, as far as one thread has spawned them.
    pub tasks: Vec<LostTask>,
}

/// A task that can never run again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostTask {
    /// The id that [`JoinHandle::id`](crate::task::JoinHandle::id) returns.
    pub id: Id,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
    /// The name that it was given by a [`task::Builder`](crate::task::Builder).
    pub name: Option<Box<str>>,
    /// How often it was polled; modulo 2^31.
    pub polls: u32,
    /// The tasks whose [`JoinHandle`](crate::task::JoinHandle)s it awaits. They can never run
    /// again, either.
    pub waits_for: Vec<Id>,
}

impl LostTasks {
    pub(crate) fn of(scheduler: &Scheduler) -> LostTasks {
        LostTasks::from(lost::find(scheduler))
    }

    pub(crate) fn from(lost: Vec<lost::Lost>) -> LostTasks {
        let mut tasks: Vec<LostTask> = lost.into_iter().map(LostTask::of).collect();
        tasks.sort_by_key(|task| task.id);
        LostTasks { tasks }
    }
}

impl LostTask {
    fn of(lost: lost::Lost) -> LostTask {
        LostTask {
            id: lost.id,
            location: lost.location,
            name: lost.name,
            polls: lost.stuck.polls,
            waits_for: lost.stuck.joins,
        }
    }
}

impl fmt::Display for LostTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tasks.len() {
            0 => return Ok(()),
            1 => writeln!(f, "1 task can never run again")?,
            count => writeln!(f, "{count} tasks can never run again")?,
        }
        self.tasks.iter().try_for_each(|task| writeln!(f, "  {task}"))
    }
}

impl fmt::Display for LostTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}{}, spawned at {}: ", self.id, Named(&self.name), Short(self.location))?;
        match self.waits_for[..] {
            [] => f.write_str("no waker is left")?,
            [one] => write!(f, "waits for task {one}")?,
            [first, ref others @ ..] => {
                write!(f, "waits for tasks {first}")?;
                others.iter().try_for_each(|id| write!(f, ", {id}"))?;
            }
        }
        write!(f, " after {} {}", self.polls, if self.polls == 1 { "poll" } else { "polls" })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn task(id: u64, waits_for: &[u64]) -> LostTask {
        let waits_for = waits_for.iter().map(|id| Id::from_u64(*id).unwrap()).collect();
        let (id, polls) = (Id::from_u64(id).unwrap(), id as u32);
        LostTask { id, location: Location::caller(), name: None, polls, waits_for }
    }

    fn after_place(task: &LostTask) -> String {
        task.to_string().split_once("lost.rs:").unwrap().1.split_once(": ").unwrap().1.to_owned()
    }

    #[test]
    fn a_line_says_why_a_task_can_not_run() {
        assert!(task(7, &[]).to_string().starts_with("task 7, spawned at "));
        let named = LostTask { name: Some("waits".into()), ..task(7, &[]) };
        assert!(named.to_string().starts_with(r#"task 7 "waits", spawned at "#));
        assert_eq!(after_place(&task(1, &[])), "no waker is left after 1 poll");
        assert_eq!(after_place(&task(2, &[1])), "waits for task 1 after 2 polls");
        assert_eq!(after_place(&task(3, &[1, 2, 3])), "waits for tasks 1, 2, 3 after 3 polls");
    }

    #[test]
    fn the_head_counts_the_tasks() {
        let text = |tasks| LostTasks { tasks }.to_string();
        assert_eq!(text(vec![]), "");
        assert!(text(vec![task(1, &[])]).starts_with("1 task can never run again\n  task 1, "));
        assert!(text(vec![task(1, &[]), task(2, &[])]).starts_with("2 tasks can never run again\n"));
    }
}
