//! The lines at which tasks wait (`cargo gmp tasks --lines PID`): of the calls above a future that
//! has to wait, the innermost line of the program itself.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use super::info::{TaskInfo, TaskState};
use crate::blocked::{BlockedFrame, FrameOrigin, here, named};
use crate::escaped::short;
use crate::sched::SchedulerRef;
use crate::task::registry::{Position, Registry};
use crate::task::sites::{self, Stack};
use crate::task::{Id, local_sets_of};

/// Entries per turn of a lock.
const TURN: usize = 256;
/// So many tasks are polled once more at most.
const MOST: usize = 1_000;
/// How long a dump waits for the next task: all threads may be busy.
const LIMIT: Duration = Duration::from_secs(1);

/// A line of the program, or of a crate that waits by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    is_own: bool,
    place: String,
}

/// Fills in where the tasks wait that are waiting. They are polled once more, unless that is in vain.
pub(super) fn find(scheduler: &SchedulerRef, tasks: &mut [TaskInfo]) {
    if here().is_empty() {
        // Stacks are unwound on Linux on x86-64 and arm64 only, with the feature `blocked-stacks`.
        return;
    }
    let waiting = tasks.iter().filter(|task| task.state == TaskState::Waiting);
    let mut wanted: HashSet<Id> = waiting.map(|task| task.id).take(MOST).collect();
    sites::begin(here);
    ask(&scheduler.registry, &mut wanted);
    for set in local_sets_of(scheduler) {
        ask(set.registry(), &mut wanted);
    }
    let (stacks, mut known) = (sites::end(LIMIT), HashMap::new());
    for task in tasks {
        task.sites = stacks.get(&task.id).map_or_else(Vec::new, |stacks| of_stacks(stacks, &mut known));
    }
}

fn ask(registry: &Registry, wanted: &mut HashSet<Id>) {
    let mut at = Some(Position::default());
    while let Some(position) = at {
        at = registry.wake_some(position, TURN, |header| {
            let is_wanted = wanted.remove(&header.id);
            if is_wanted {
                sites::ask(header);
            }
            is_wanted
        });
    }
}

/// The lines of the program; if there is none, those of crates. Each once.
fn of_stacks(stacks: &[Stack], known: &mut HashMap<Stack, Option<Site>>) -> Vec<Site> {
    let mut sites = Vec::new();
    for stack in stacks {
        let site = known.entry(stack.clone()).or_insert_with(|| Site::of(&named(stack)));
        sites.extend(site.clone().filter(|site| !sites.contains(site)));
    }
    let has_own = sites.iter().any(|site| site.is_own);
    sites.retain(|site| site.is_own == has_own);
    sites
}

impl Site {
    fn of(frames: &[BlockedFrame]) -> Option<Site> {
        let of = |origin| frames.iter().find(|frame| frame.origin == origin && frame.line.is_some());
        let own = of(FrameOrigin::Own);
        let frame = own.or_else(|| of(FrameOrigin::Dependency))?;
        let place = format!("{}:{}", short(frame.file.as_deref()?), frame.line?);
        Some(Site { is_own: own.is_some(), place })
    }
}

/// Displays the lines at which a task waits, as the end of a sentence; nothing without a line.
pub(super) struct Sites<'a>(pub(super) &'a [Site]);

impl fmt::Display for Sites<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(index, site)| write!(f, "{} {}", if index == 0 { ", at" } else { " and" }, site.place))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::runtime::Builder;
    use crate::time::sleep;

    const HOUR: Duration = Duration::from_secs(3_600);
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Wakes all tasks that have waited, and returns their ids.
    fn wake_all(registry: &Registry) -> HashSet<Id> {
        let (mut at, mut ids) = (Some(Position::default()), HashSet::new());
        while let Some(position) = at {
            at = registry.wake_some(position, TURN, |header| ids.insert(header.id));
        }
        ids
    }

    /// A poll that began before a dump asked its task must not end the dump's wait for that task.
    #[test]
    fn tasks_that_are_woken_all_the_time_give_a_stack_in_each_dump() {
        const TASKS: usize = 32;
        const DUMPS: usize = 200;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        let tasks: Vec<_> = (0..TASKS).map(|_| runtime.spawn(async { sleep(HOUR).await })).collect();
        let registry = &runtime.handle().scheduler().registry;
        let since = Instant::now();
        while wake_all(registry).len() < TASKS {
            assert!(since.elapsed() < PATIENCE, "the tasks are not polled");
            thread::yield_now();
        }
        let ids: HashSet<Id> = tasks.iter().map(|task| task.id()).collect();
        let is_over = AtomicBool::new(false);
        let given: Vec<usize> = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    wake_all(registry);
                }
            });
            let dump = |_| {
                sites::begin(|| vec![1]);
                ask(registry, &mut ids.clone());
                sites::end(LIMIT).len()
            };
            let given = (0..DUMPS).map(dump).collect();
            is_over.store(true, Relaxed);
            given
        });
        assert_eq!(given, [TASKS; DUMPS]);
    }

    fn frame(file: &str, origin: FrameOrigin) -> BlockedFrame {
        BlockedFrame { function: None, file: Some(file.to_owned()), line: Some(7), origin }
    }

    #[test]
    fn the_innermost_line_of_the_program_comes_before_those_of_crates() {
        let sleep = frame("gmp-exec/src/time/sleep.rs", FrameOrigin::Runtime);
        let hyper = frame("/home/a/.cargo/registry/src/index-1/hyper-1.9.0/src/a.rs", FrameOrigin::Dependency);
        let [own, outer] = ["src/a.rs", "src/main.rs"].map(|file| frame(file, FrameOrigin::Own));
        let site = |frames: &[&BlockedFrame]| {
            let frames: Vec<BlockedFrame> = frames.iter().copied().cloned().collect();
            Site::of(&frames).map(|site| Sites(&[site]).to_string())
        };
        assert_eq!(site(&[&sleep, &hyper, &own, &outer]).unwrap(), ", at src/a.rs:7");
        assert_eq!(site(&[&sleep, &hyper]).unwrap(), ", at hyper-1.9.0/src/a.rs:7");
        assert_eq!(site(&[&sleep]), None);
    }

    #[test]
    fn lines_of_crates_are_left_out_beside_those_of_the_program() {
        let site = |is_own, place: &str| Some(Site { is_own, place: place.to_owned() });
        let mut known =
            HashMap::from([(vec![1], site(false, "hyper.rs:1")), (vec![2], site(true, "a.rs:2")), (vec![3], None)]);
        let mut of = |stacks: &[u64]| {
            let stacks: Vec<Stack> = stacks.iter().map(|address| vec![*address]).collect();
            Sites(&of_stacks(&stacks, &mut known)).to_string()
        };
        assert_eq!((&*of(&[1, 2, 3, 2]), &*of(&[1, 3]), &*of(&[3])), (", at a.rs:2", ", at hyper.rs:1", ""));
    }
}
