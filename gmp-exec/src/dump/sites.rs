//! The lines at which tasks wait (`cargo gmp tasks --lines PID`): of the calls above a future that
//! has to wait, the innermost line of the program itself; if there is none, the innermost call of a crate
//! that the program uses, with the line or, in a build without lines of crates, the function.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::info::{TaskInfo, TaskState};
use crate::blocked::{BlockedFrame, FrameOrigin, forget_symbols, here, named};
use crate::sched::SchedulerRef;
use crate::several::Several;
use crate::task::registry::{Position, Registry};
use crate::task::sites::{self, Given, Stack};
use crate::task::{Id, local_sets_of};

/// Entries per turn of a lock.
const TURN: usize = 256;
/// So many tasks are polled once more at most.
const MOST: usize = 1_000;
/// How long a dump waits for the next task: all threads may be busy.
const LIMIT: Duration = Duration::from_secs(1);

const STRIPPED: &str = "no line known: the program is stripped";

/// Where a task waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// Whether it is a line of the program.
    pub(super) is_own: bool,
    /// `at FILE:LINE` or `in FUNCTION`.
    pub(super) place: String,
    /// The line in the handler, `at FILE:LINE`, if that is another one.
    pub(super) handler: Option<String>,
}

/// Fills in where the tasks wait that are waiting. They are polled once more, unless that is in vain.
/// `again` walks over all tasks. A task may wait for something else in that poll than before, or go on: a
/// line counts only with what the task waits for since the same poll.
pub(super) fn find<W>(scheduler: &SchedulerRef, tasks: &mut [TaskInfo], again: impl FnOnce() -> W)
where
    W: Iterator<Item = TaskInfo>,
{
    static ONE: Mutex<()> = Mutex::new(());
    if !are_known() {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = tasks.iter().filter(|task| task.state == TaskState::Waiting);
    let mut wanted: HashSet<Id> = waiting.map(|task| task.id).take(MOST).collect();
    sites::begin(here);
    ask(&scheduler.registry, &mut wanted);
    for set in local_sets_of(scheduler) {
        ask(set.registry(), &mut wanted);
    }
    let (given, mut known) = (sites::end(LIMIT), HashMap::new());
    let again: HashMap<Id, TaskInfo> = again().map(|task| (task.id, task)).collect();
    for task in tasks {
        let Some(given) = given.get(&task.id) else { continue };
        let is_of_crate = is_of_crate(task.location.file());
        if let Some(same) = again.get(&task.id).filter(|again| again.is_told_by(given)) {
            *task = TaskInfo { sites: of_stacks(&given.stacks, is_of_crate, &mut known), ..same.clone() };
        }
        let has_own = task.sites.iter().any(|site| site.is_own);
        task.future = (is_of_crate && !has_own).then_some(given.future);
    }
    forget_symbols();
}

/// Whether stacks are unwound: on Linux on x86-64 and arm64, with the feature `blocked-stacks`.
pub(super) fn are_known() -> bool {
    !here().is_empty()
}

impl TaskInfo {
    fn is_told_by(&self, given: &Given) -> bool {
        self.state == TaskState::Waiting && self.polls == given.polls && !self.waits_for.is_empty()
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
fn of_stacks(stacks: &[Stack], is_of_crate: bool, known: &mut HashMap<Stack, Option<Site>>) -> Vec<Site> {
    let mut sites = Vec::new();
    for stack in stacks {
        let site = known.entry(stack.clone()).or_insert_with(|| Site::of(&named(stack), is_of_crate));
        sites.extend(site.clone().filter(|site| !sites.contains(site)));
    }
    let has_own = sites.iter().any(|site| site.is_own);
    sites.retain(|site| site.is_own == has_own);
    sites
}

impl Site {
    /// If a crate has spawned the task, the outermost line of the program is in the handler that the crate
    /// calls.
    pub(super) fn of(frames: &[BlockedFrame], is_of_crate: bool) -> Option<Site> {
        let is_of = |origin| move |frame: &&BlockedFrame| frame.origin == origin;
        let of = |origin| frames.iter().find(is_of(origin));
        let own = of(FrameOrigin::Own);
        let place = match own.or_else(|| of(FrameOrigin::Dependency)) {
            Some(frame) => frame.to_string(),
            None => of(FrameOrigin::Unknown).map(|_| STRIPPED.to_owned())?,
        };
        let outermost = frames.iter().rfind(is_of(FrameOrigin::Own)).filter(|_| is_of_crate);
        let handler = outermost.map(ToString::to_string).filter(|handler| *handler != place);
        Some(Site { is_own: own.is_some(), place, handler })
    }
}

/// The file of a published crate, or of one in a repository.
fn is_of_crate(file: &str) -> bool {
    file.contains("/registry/src/") || file.contains("/git/checkouts/")
}

/// A type, without its parameters (`app::Server<hyper::Body>` as `app::Server<..>`). Of a future that was
/// boxed because it is large (`task::spawn`), the type of the future.
pub(super) fn short_type(name: &str) -> String {
    let mut depth = 0_u32;
    let mut text = String::new();
    for character in unboxed(name).chars() {
        match character {
            '<' if depth == 0 => text.push_str("<..>"),
            character if depth == 0 => text.push(character),
            _ => {}
        }
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text
}

fn unboxed(name: &str) -> &str {
    let inner = name.strip_prefix("core::pin::Pin<alloc::boxed::Box<").and_then(|name| name.strip_suffix(">>"));
    inner.filter(|inner| !inner.starts_with("dyn ")).unwrap_or(name)
}

/// Displays where the tasks of a group wait, as the end of a sentence; nothing if that is not known.
pub(super) struct Sites<'a> {
    pub(super) lines: &'a [String],
    /// The lines of their handlers.
    pub(super) handlers: &'a [String],
}

impl fmt::Display for Sites<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines.iter().enumerate() {
            write!(f, "{} {line}", if index == 0 { "," } else { " and" })?;
        }
        match self.handlers {
            [] => Ok(()),
            [handler] => write!(f, " in the call {handler}"),
            handlers => write!(f, " in the calls {}", Several(handlers)),
        }
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

    /// A process makes one dump at a time.
    static DUMPS: Mutex<()> = Mutex::new(());

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
        const TIMES: usize = 200;
        let _dump = DUMPS.lock();
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
                sites::end(LIMIT).values().filter(|given| !given.stacks.is_empty()).count()
            };
            let given = (0..TIMES).map(dump).collect();
            is_over.store(true, Relaxed);
            given
        });
        assert_eq!(given, [TASKS; TIMES]);
    }

    /// A handler whose lock has come free waits for the next thing when it is polled once more.
    #[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[test]
    fn a_line_is_that_of_the_wait_beside_it() {
        use crate::runtime::Handle;
        use crate::task::yield_now;

        let _dump = DUMPS.lock();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let text = runtime.block_on(async {
            let other = crate::spawn(std::future::pending::<()>());
            let (mut sleep, mut other) = (Box::pin(sleep(HOUR)), Box::pin(other));
            let mut polls = 0;
            crate::spawn(std::future::poll_fn(move |cx| {
                polls += 1;
                if polls == 1 { sleep.as_mut().poll(cx) } else { other.as_mut().poll(cx).map(drop) }
            }));
            yield_now().await;
            let handle = Handle::current();
            let dump = thread::spawn(move || handle.tasks().groups_with_sites().to_string());
            while !dump.is_finished() {
                yield_now().await;
            }
            dump.join().unwrap()
        });
        assert!(text.contains(", waits for task ") && !text.contains("timer"), "{text}");
    }

    fn frame(file: &str, origin: FrameOrigin) -> BlockedFrame {
        BlockedFrame { function: None, file: Some(file.to_owned()), line: Some(7), origin }
    }

    #[test]
    fn the_innermost_line_of_the_program_comes_before_those_of_crates() {
        let sleep = frame("gmp-exec/src/time/sleep.rs", FrameOrigin::Runtime);
        let hyper = frame("/home/a/.cargo/registry/src/index-1/hyper-1.9.0/src/a.rs", FrameOrigin::Dependency);
        let [own, outer] = ["src/a.rs", "src/main.rs"].map(|file| frame(file, FrameOrigin::Own));
        let site_of = |frames: &[&BlockedFrame], is_of_crate| {
            let frames: Vec<BlockedFrame> = frames.iter().copied().cloned().collect();
            Site::of(&frames, is_of_crate).map(|site| (site.place, site.handler))
        };
        let site = |frames: &[&BlockedFrame]| site_of(frames, false);
        let at = |place: &str, handler: Option<&str>| Some((place.to_owned(), handler.map(str::to_owned)));
        assert_eq!(site(&[&sleep, &hyper, &own, &outer]), at("at src/a.rs:7", None));
        assert_eq!(site_of(&[&sleep, &own, &outer, &hyper], true), at("at src/a.rs:7", Some("at src/main.rs:7")));
        assert_eq!(site_of(&[&sleep, &own, &hyper], true), at("at src/a.rs:7", None));
        assert_eq!(site(&[&sleep, &hyper]), at("at hyper-1.9.0/src/a.rs:7", None));
        let function = Some("hyper::client::connect".to_owned());
        let unplaced = BlockedFrame { function, file: None, line: None, origin: FrameOrigin::Dependency };
        assert_eq!(site(&[&sleep, &unplaced, &hyper]), at("in hyper::client::connect", None));
        assert_eq!(site(&[&sleep, &unplaced, &own]), at("at src/a.rs:7", None));
        assert_eq!(site(&[&sleep]), None);
        let unknown = BlockedFrame { origin: FrameOrigin::Unknown, ..unplaced };
        assert_eq!(site(&[&sleep, &unknown]), at("no line known: the program is stripped", None));
    }

    #[test]
    fn lines_of_crates_are_left_out_beside_those_of_the_program() {
        let site = |is_own, place: &str| Some(Site { is_own, place: place.to_owned(), handler: None });
        let mut known =
            HashMap::from([(vec![1], site(false, "hyper.rs:1")), (vec![2], site(true, "a.rs:2")), (vec![3], None)]);
        let mut of = |stacks: &[u64]| {
            let stacks: Vec<Stack> = stacks.iter().map(|address| vec![*address]).collect();
            of_stacks(&stacks, false, &mut known).into_iter().map(|site| site.place).collect::<Vec<String>>()
        };
        assert_eq!((of(&[1, 2, 3, 2]), of(&[1, 3])), (vec!["a.rs:2".to_owned()], vec!["hyper.rs:1".to_owned()]));
        assert_eq!(of(&[3]), [""; 0]);
    }

    #[test]
    fn a_type_is_told_without_its_parameters() {
        assert_eq!(short_type("actix_server::worker::ServerWorker"), "actix_server::worker::ServerWorker");
        assert_eq!(short_type("axum::serve<a::L<b::C>, d::E>::{{closure}}"), "axum::serve<..>::{{closure}}");
        let boxed = "core::pin::Pin<alloc::boxed::Box<dyn core::future::future::Future<Output = ()>>>";
        assert_eq!(short_type(boxed), "core::pin::Pin<..>");
        assert_eq!(
            short_type("core::pin::Pin<alloc::boxed::Box<app::run<A>::{{closure}}>>"),
            "app::run<..>::{{closure}}"
        );
    }
}
