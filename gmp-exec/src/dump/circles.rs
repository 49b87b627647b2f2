//! Tasks that wait for each other in a circle: a deadlock of mutexes of tokio's or of handles.
//!
//! The tasks of a walk are seen at different moments, so a circle counts only if a second walk finds
//! each of its tasks waiting since the same poll for the same tasks. Then there was a moment between
//! the two at which all of them waited.
//!
//! Of a lock is known which task has taken it, and not where the guard is now: the task may have given
//! it to another one, which goes on and unlocks. So the line of such a circle says what it assumes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use super::info::{Named, Short, TaskInfo};
use super::waits::{All, WaitsFor};
use super::walk::Tasks;
use crate::lost::locks;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::task::Id;

/// Tasks each of which waits for the next one, and the last one for the first one.
#[derive(Clone, Debug)]
pub(super) struct Circle(pub(super) Vec<TaskInfo>);

/// The circles that both walks have seen, each task in one at most.
pub(super) fn circles(tasks: &[TaskInfo], again: impl FnOnce() -> Vec<TaskInfo>) -> Vec<Circle> {
    let found = find(tasks);
    if found.is_empty() {
        return Vec::new();
    }
    let again: HashMap<Id, TaskInfo> = again().into_iter().map(|task| (task.id, task)).collect();
    let is_same = |task: &TaskInfo| {
        let of = |task: &TaskInfo| (task.state, task.polls, task.blocked_by().collect::<Vec<Id>>());
        again.get(&task.id).is_some_and(|second| of(second) == of(task))
    };
    found.into_iter().filter(|circle| circle.0.iter().all(is_same)).collect()
}

/// The circles in which each task that wants a mutex has waited for it for so long, and that this
/// function has not returned yet.
pub(crate) fn new_circles(scheduler: &Arc<Scheduler>, limit: Duration) -> String {
    let walk = || Tasks::of(SchedulerRef::new(scheduler.clone())).collect::<Vec<TaskInfo>>();
    let young: HashSet<Id> =
        locks::edges().iter().filter(|edge| edge.since.elapsed() < limit).map(|edge| edge.task).collect();
    let mut told = TOLD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut is_new = |circle: &Circle| circle.ids().iter().all(|id| !young.contains(id)) && told.insert(circle.ids());
    circles(&walk(), walk).iter().filter(|circle| is_new(circle)).map(|circle| format!("{circle}\n")).collect()
}

static TOLD: Mutex<BTreeSet<Vec<Id>>> = Mutex::new(BTreeSet::new());

fn find(tasks: &[TaskInfo]) -> Vec<Circle> {
    let by_id: HashMap<Id, &TaskInfo> = tasks.iter().map(|task| (task.id, task)).collect();
    let mut ids: Vec<Id> = by_id.keys().copied().collect();
    ids.sort();
    let (mut done, mut circles) = (HashSet::new(), Vec::new());
    for start in ids {
        circles.extend(circle_from(start, &by_id, &mut done));
    }
    circles
}

/// Follows what each task waits for, depth first. A chain may be long, so this is no recursion.
fn circle_from(start: Id, tasks: &HashMap<Id, &TaskInfo>, done: &mut HashSet<Id>) -> Option<Circle> {
    let next = |id: Id| tasks.get(&id).into_iter().flat_map(|task| task.blocked_by()).collect::<Vec<Id>>();
    if !done.insert(start) {
        return None;
    }
    let mut path = vec![(start, next(start))];
    while let Some((_, rest)) = path.last_mut() {
        let Some(id) = rest.pop() else {
            path.pop();
            continue;
        };
        if let Some(at) = path.iter().position(|(on_path, _)| *on_path == id) {
            let circle = path[at..].iter().filter_map(|(id, _)| tasks.get(id).copied().cloned());
            return Some(Circle(circle.collect()));
        }
        if done.insert(id) {
            path.push((id, next(id)));
        }
    }
    None
}

impl Circle {
    fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.0.iter().map(|task| task.id).collect();
        ids.sort();
        ids
    }

    /// Whether something else could wake one of the tasks.
    fn may_end(&self) -> bool {
        self.0.iter().any(|task| task.waits_for.len() > 1 || task.waits_for_more)
    }

    /// Which waits of a task are for the next one.
    fn waits_in_it(&self, index: usize) -> Vec<WaitsFor> {
        let next = self.0[(index + 1) % self.0.len()].id;
        self.0[index].waits_for.iter().filter(|wait| wait.blocked_by() == Some(next)).copied().collect()
    }

    fn has_locks(&self) -> bool {
        (0..self.0.len()).any(|index| self.waits_in_it(index).iter().any(|wait| matches!(wait, WaitsFor::Sync { .. })))
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.may_end(), self.has_locks()) {
            (false, false) => "deadlock: ",
            (true, false) => "deadlock, unless something else wakes them: ",
            (false, true) => "deadlock, unless a guard is with another task: ",
            (true, true) => "deadlock, unless something else wakes them or a guard is with another task: ",
        })?;
        for (index, task) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            write!(f, "task {}{}, spawned at {}, ", task.id, Named(&task.name), Short(task.location))?;
            write!(f, "waits {}", All { waits: &self.waits_in_it(index), more: false })?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::task::Resource;

    fn id(id: u64) -> Id {
        Id::from_u64(id).unwrap()
    }

    fn tasks(waits: &[(u64, &[u64])]) -> Vec<TaskInfo> {
        let task = |(number, ids): &(u64, &[u64])| TaskInfo {
            waits_for: ids.iter().map(|awaited| WaitsFor::Task(id(*awaited))).collect(),
            ..TaskInfo::waiting(id(*number))
        };
        waits.iter().map(task).collect()
    }

    fn found(tasks: &[TaskInfo]) -> Vec<Vec<Id>> {
        circles(tasks, || tasks.to_vec()).iter().map(Circle::ids).collect()
    }

    #[test]
    fn a_circle_is_found_once_and_without_the_tasks_that_lead_to_it() {
        assert_eq!(found(&tasks(&[(1, &[2]), (2, &[3]), (3, &[2])])), [[id(2), id(3)]]);
        assert_eq!(found(&tasks(&[(1, &[2]), (2, &[3]), (3, &[])])), Vec::<Vec<Id>>::new());
        assert_eq!(found(&tasks(&[(1, &[2, 3]), (2, &[9]), (3, &[1])])), [[id(1), id(3)]]);
        assert_eq!(found(&tasks(&[(1, &[1])])), [[id(1)]]);
    }

    #[test]
    fn a_circle_of_which_a_task_has_gone_on_is_none() {
        let first = tasks(&[(1, &[2]), (2, &[1])]);
        let mut second = first.clone();
        second[1].polls += 1;
        assert!(circles(&first, || second).is_empty());
        assert!(circles(&first, Vec::new).is_empty());
    }

    #[test]
    fn a_circle_in_words() {
        let all = tasks(&[(1, &[2]), (2, &[1])]);
        let text = circles(&all, || all.clone())[0].to_string();
        assert!(text.starts_with("deadlock: task 1, spawned at "), "{text}");
        assert!(
            text.contains(", waits for task 2; task 2, spawned at ") && text.ends_with(", waits for task 1"),
            "{text}"
        );
        let all = tasks(&[(1, &[2, 3]), (2, &[1]), (3, &[])]);
        let text = circles(&all, || all.clone())[0].to_string();
        assert!(text.starts_with("deadlock, unless something else wakes them: task 1, "), "{text}");
    }

    /// The guard may be with a task that goes on.
    #[test]
    fn a_circle_of_locks_is_a_deadlock_only_if_the_guards_are_where_they_were_taken() {
        let wants = |holder| WaitsFor::Sync {
            resource: Resource::Mutex,
            amount: 1,
            created: Some(Location::caller()),
            holder: Some(id(holder)),
            locked_at: Some(Location::caller()),
            locked_elsewhere: false,
            other_holders: 0,
            held: 1,
        };
        let mut all = tasks(&[(1, &[]), (2, &[1])]);
        let begins =
            |all: &[TaskInfo]| circles(all, || all.to_vec())[0].to_string().split_once(": ").unwrap().0.to_owned();
        all[0].waits_for = vec![wants(2)];
        assert_eq!(begins(&all), "deadlock, unless a guard is with another task");
        all[0].waits_for.push(WaitsFor::Timer(Duration::ZERO));
        assert_eq!(begins(&all), "deadlock, unless something else wakes them or a guard is with another task");
        // The lock is not in the circle.
        all[0].waits_for = vec![WaitsFor::Task(id(2)), wants(9)];
        assert_eq!(begins(&all), "deadlock, unless something else wakes them");
    }
}
