//! Tasks that do the same, as one line: those that wait at one line of the program or, where that line
//! is not known, those that were spawned at one place.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::info::{Named, Short, TaskInfo, TaskState};
use super::sites::{self, Site, Sites, short_type};
use super::waits::{All, OfSeveral, WaitsFor};
use super::walk::Tasks;
use crate::several::{Several, add_new};
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
/// //   3 waiting, spawned at src/main.rs:6, ages up to 0.0 s, 1 poll: tasks 64, 65, 66
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
    /// Those of them that could wait for their first poll in the queues of workers. The others were
    /// spawned while the groups were made.
    pub unseen_on_workers: usize,
    /// The futures of `block_on`, with ids of their own, if a setting has asked for them: with
    /// `GMP_DEBUG=sigquit=1`, `GMP_LEAKS` or `GMP_DEADLOCK_AFTER`, or the options of a builder.
    pub roots: Vec<TaskInfo>,
    pool: Pool,
}

/// The closures of a runtime, and their threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pool {
    pub(super) running: usize,
    /// How many may run.
    pub(super) most: usize,
    pub(super) waiting: usize,
    pub(super) threads: usize,
}

/// Tasks that were spawned at one place and do the same.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskGroup {
    /// Whether they are closures of [`spawn_blocking`](crate::task::spawn_blocking).
    pub are_blocking: bool,
    /// Where they were spawned.
    pub location: &'static Location<'static>,
    /// The name that they were given by a [`task::Builder`](crate::task::Builder).
    pub name: Option<Box<str>>,
    /// What they do.
    pub state: TaskState,
    /// What they wait for, as far as that is known: the waits of one of them. Of timers, the earliest
    /// one.
    pub waits_for: Vec<WaitsFor>,
    /// Whether some of them wait for more than that.
    pub waits_for_more: bool,
    /// Whether they can never run again; see [`TaskInfo::is_lost`].
    pub are_lost: bool,
    /// How many tasks there are.
    pub count: usize,
    /// The [age](TaskInfo::age) of the oldest one; `None` if none has ever waited.
    pub oldest: Option<Duration>,
    /// The longest time for which one of them, a closure, has waited because the pool is full.
    pub queued: Option<Duration>,
    /// The longest time for which one of them has held its thread.
    pub stuck: Option<Duration>,
    /// The fewest and the most polls that one of them has had.
    pub polls: (u32, u32),
    /// Some of them.
    pub examples: Vec<Id>,
    /// The lines at which each of them waits, if they were asked for.
    sites: Vec<String>,
    /// The lines of their handlers, each once.
    handlers: Vec<String>,
    /// Where they were spawned, each place once. Several, if they wait at one line.
    spawned: Vec<Short>,
    future: Option<&'static str>,
}

/// What the tasks of a group have in common, beside what they do.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    /// The lines of the program at which they wait.
    Own(Vec<String>),
    /// Where they were spawned, their name, the type of their futures, and lines of crates.
    Spawned(&'static Location<'static>, Option<Box<str>>, Option<&'static str>, Vec<String>),
}

impl Place {
    fn of(info: &TaskInfo) -> Place {
        match lines(&info.sites) {
            lines if info.sites.iter().any(|site| site.is_own) => Place::Own(lines),
            lines => Place::Spawned(info.location, info.name.clone(), info.future, lines),
        }
    }
}

/// The branches of a `select!` are polled in any order.
fn lines(sites: &[Site]) -> Vec<String> {
    let mut lines: Vec<String> = sites.iter().map(|site| site.place.clone()).collect();
    lines.sort();
    lines.dedup();
    lines
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
        let groups = group(self.by_ref());
        TaskGroups { groups, ..self.without_groups() }
    }

    /// The same with the lines at which tasks wait. The tasks are polled once more.
    pub(super) fn groups_with_sites(mut self) -> TaskGroups {
        let mut tasks: Vec<TaskInfo> = self.by_ref().collect();
        let rest = self.without_groups();
        sites::find(self.scheduler(), &mut tasks, || self.again());
        TaskGroups { groups: group(tasks.into_iter()), ..rest }
    }

    /// What is known when all tasks were returned.
    fn without_groups(&self) -> TaskGroups {
        let (unseen, unseen_on_workers) = (self.unseen(), self.unseen_on_workers());
        TaskGroups { groups: Vec::new(), unseen, unseen_on_workers, roots: self.roots(), pool: self.pool() }
    }
}

fn group(tasks: impl Iterator<Item = TaskInfo>) -> Vec<TaskGroup> {
    let mut groups = HashMap::new();
    for info in tasks {
        let key = (Place::of(&info), info.state, info.is_blocking, info.is_lost, kinds(&info.waits_for));
        groups.entry(key).or_insert_with(|| TaskGroup::of(&info)).add(&info);
    }
    let mut groups: Vec<TaskGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.state, group.location.line()));
    groups
}

/// The kinds of waits, each once, in an order of their own.
fn kinds(waits: &[WaitsFor]) -> Vec<WaitsFor> {
    let mut kinds: Vec<WaitsFor> = waits.iter().map(|wait| wait.kind()).collect();
    kinds.sort_by_key(WaitsFor::rank);
    kinds.dedup();
    kinds
}

impl TaskGroup {
    /// A group that this task is to be added to.
    fn of(info: &TaskInfo) -> TaskGroup {
        TaskGroup {
            are_blocking: info.is_blocking,
            location: info.location,
            name: info.name.clone(),
            state: info.state,
            waits_for: info.waits_for.clone(),
            waits_for_more: false,
            are_lost: info.is_lost,
            count: 0,
            oldest: None,
            queued: None,
            stuck: None,
            polls: (u32::MAX, 0),
            examples: Vec::new(),
            sites: lines(&info.sites),
            handlers: Vec::new(),
            spawned: Vec::new(),
            future: info.future,
        }
    }

    fn add(&mut self, info: &TaskInfo) {
        self.count += 1;
        let left = info.waits_for.iter().find_map(WaitsFor::timer);
        for least in self.waits_for.iter_mut().filter(|wait| wait.timer().is_some()) {
            *least = least.timer().min(left).map_or(*least, WaitsFor::Timer);
        }
        self.waits_for.iter_mut().for_each(|wait| wait.retain_common(&info.waits_for));
        self.waits_for_more |= info.waits_for_more;
        self.name = self.name.take().filter(|name| info.name.as_ref() == Some(name));
        add_new(&mut self.spawned, Short(info.location));
        info.sites.iter().filter_map(|site| site.handler.clone()).for_each(|line| add_new(&mut self.handlers, line));
        self.oldest = self.oldest.max(info.age);
        self.queued = self.queued.max(info.queued);
        self.stuck = self.stuck.max(info.stuck);
        self.polls = (self.polls.0.min(info.polls), self.polls.1.max(info.polls));
        if self.examples.len() < EXAMPLES {
            self.examples.push(info.id);
        }
    }
}

impl fmt::Display for TaskGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |are_blocking| -> usize {
            self.groups.iter().filter(|group| group.are_blocking == are_blocking).map(|group| group.count).sum()
        };
        match (count(false), count(true)) {
            (0, 0) => writeln!(f, "no tasks")?,
            (tasks, 0) => writeln!(f, "{}", Count(tasks, "task"))?,
            (tasks, closures) => writeln!(f, "{} and {}", Count(tasks, "task"), Count(closures, "blocking closure"))?,
        }
        self.roots.iter().try_for_each(|root| write_root(f, root))?;
        self.groups.iter().try_for_each(|group| writeln!(f, "  {group}"))?;
        if self.unseen_on_workers > 0 {
            writeln!(f, "  {} more, queued on workers for their first poll", self.unseen_on_workers)?;
        }
        match self.unseen - self.unseen_on_workers {
            0 => {}
            new => writeln!(f, "  {new} more, spawned a moment ago")?,
        }
        self.write_pool(f)
    }
}

fn write_root(f: &mut fmt::Formatter<'_>, root: &TaskInfo) -> fmt::Result {
    write!(f, "  future of block_on at {} {}", Short(root.location), root.state)?;
    match root.waits_for[..] {
        [] => writeln!(f),
        _ => writeln!(f, ", waits {}", root.waits()),
    }
}

impl TaskGroups {
    fn write_pool(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pool { running, most, waiting, threads } = self.pool;
        if running == 0 && waiting == 0 {
            return Ok(());
        }
        write!(f, "  blocking closures: {running} of at most {most} run, on {}", Count(threads, "thread"))?;
        if waiting > 0 {
            write!(f, "; {waiting} wait")?;
        }
        match self.groups.iter().filter_map(|group| group.queued).max() {
            Some(queued) => writeln!(f, ", the first for {:.1} s", queued.as_secs_f64()),
            None => writeln!(f),
        }
    }
}

/// A number of things.
pub(super) struct Count(pub(super) usize, pub(super) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

impl fmt::Display for TaskGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = if self.are_blocking { "closure" } else { "task" };
        match self.are_blocking {
            true => write!(f, "{} {}", Count(self.count, "closure"), self.state)?,
            false => write!(f, "{} {}", self.count, self.state)?,
        }
        write!(f, "{}, spawned at {}", Named(&self.name), Several(&self.spawned))?;
        self.future.map_or(Ok(()), |future| write!(f, ", future {}", short_type(future)))?;
        self.write_waits(f)?;
        Sites { lines: &self.sites, handlers: &self.handlers }.fmt(f)?;
        match self.oldest {
            Some(age) if self.count == 1 => write!(f, ", age {:.1} s", age.as_secs_f64())?,
            Some(age) => write!(f, ", ages up to {:.1} s", age.as_secs_f64())?,
            None => {}
        }
        if let Some(queued) = self.queued {
            write!(f, ", queued for up to {:.1} s", queued.as_secs_f64())?;
        }
        if let Some(stuck) = self.stuck {
            write!(f, ", stuck for {:.1} s", stuck.as_secs_f64())?;
        }
        match self.polls {
            // A closure is not polled.
            _ if self.are_blocking => {}
            (1, 1) => write!(f, ", 1 poll")?,
            (least, most) if least == most => write!(f, ", {most} polls")?,
            (least, most) => write!(f, ", {least} to {most} polls")?,
        }
        write!(f, ": {one}{}", if self.count == 1 { " " } else { "s " })?;
        for (index, id) in self.examples.iter().enumerate() {
            write!(f, "{}{id}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(if self.count > self.examples.len() { ", ..." } else { "" })
    }
}

impl TaskGroup {
    fn write_waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.are_lost {
            let is_awaited = self.waits_for.iter().any(|wait| matches!(wait, WaitsFor::Task(_)));
            f.write_str(if is_awaited { ", can never run again" } else { ", can never run again: no waker is left" })?;
        }
        let more = self.waits_for_more;
        match &self.waits_for[..] {
            [] => Ok(()),
            waits if self.count == 1 => write!(f, ", waits {}", All { waits, more }),
            waits => {
                let kinds = kinds(waits).into_iter().map(|kind| waits.iter().find(|wait| wait.kind() == kind));
                let waits: Vec<OfSeveral> = kinds.flatten().copied().map(OfSeveral).collect();
                write!(f, ", wait {}", All { waits: &waits, more })
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn group() -> TaskGroup {
        TaskGroup {
            are_blocking: false,
            location: Location::caller(),
            name: None,
            state: TaskState::Waiting,
            waits_for: Vec::new(),
            waits_for_more: false,
            are_lost: false,
            count: 1,
            oldest: None,
            queued: None,
            stuck: None,
            polls: (1, 1),
            examples: vec![Id::from_u64(7).unwrap()],
            sites: Vec::new(),
            handlers: Vec::new(),
            spawned: vec![Short(Location::caller())],
            future: None,
        }
    }

    fn after_place(group: &TaskGroup) -> String {
        let line = group.to_string();
        line.split_once("groups.rs:").unwrap().1.split_once(|c: char| !c.is_ascii_digit()).unwrap().1.to_owned()
    }

    #[test]
    fn a_line_says_all_that_is_known() {
        let timer = WaitsFor::Timer(Duration::from_secs(3));
        let one = group();
        assert!(one.to_string().starts_with("1 waiting, spawned at "), "{one}");
        assert_eq!(after_place(&one), " 1 poll: task 7");
        let waits = TaskGroup { waits_for: vec![WaitsFor::AnyOf(2), timer], ..group() };
        assert_eq!(after_place(&waits), " waits for any of 2 tasks and for a timer in 3.0 s, 1 poll: task 7");
        let named = TaskGroup { name: Some("waits".into()), ..group() };
        assert!(named.to_string().starts_with(r#"1 waiting "waits", spawned at "#), "{named}");
        let many = TaskGroup {
            count: 1_000,
            waits_for: vec![timer],
            oldest: Some(Duration::from_millis(12_345)),
            stuck: Some(Duration::from_millis(950)),
            polls: (2, 9),
            examples: [7, 8, 9].map(|id| Id::from_u64(id).unwrap()).into(),
            ..group()
        };
        assert_eq!(
            after_place(&many),
            " wait for timers (the next in 3.0 s), ages up to 12.3 s, stuck for 0.9 s, 2 to 9 polls: tasks 7, 8, 9, ..."
        );
        let lost = TaskGroup { are_lost: true, ..group() };
        assert_eq!(after_place(&lost), " can never run again: no waker is left, 1 poll: task 7");
        let aged = TaskGroup { oldest: Some(Duration::from_secs(2)), ..group() };
        assert_eq!(after_place(&aged), " age 2.0 s, 1 poll: task 7");
        assert_eq!(after_place(&TaskGroup { polls: (0, 0), ..group() }), " 0 polls: task 7");
    }

    #[test]
    fn tasks_that_wait_at_one_line_of_the_program_are_one_group_wherever_they_were_spawned() {
        let site = |is_own, place: &str, handler: Option<&str>| Site {
            is_own,
            place: place.to_owned(),
            handler: handler.map(str::to_owned),
        };
        let id = |id| Id::from_u64(id).unwrap();
        let here = |id, sites: &[Site]| TaskInfo { sites: sites.to_vec(), ..TaskInfo::waiting(id) };
        let one = TaskInfo::waiting(id(1)).location;
        let other = TaskInfo::waiting(id(2)).location;
        let text = |tasks: &[(&'static Location<'static>, &[Site])]| {
            let info = |(index, (location, sites)): (usize, &(&'static Location<'static>, &[Site]))| TaskInfo {
                location,
                ..here(id(index as u64 + 1), sites)
            };
            super::group(tasks.iter().enumerate().map(info))
                .iter()
                .map(|group| format!("{group}\n"))
                .collect::<String>()
        };
        let own = |handler| [site(true, "at db.rs:11", handler)];
        let [a, b] = [Some("at api.rs:30"), Some("at api.rs:44")];
        let [plain, of_a, of_b] = [own(None), own(a), own(b)];
        let both = text(&[(one, &of_a), (other, &of_b), (one, &of_a)]);
        let spawned = format!("spawned at {}, {}", Short(one), Short(other));
        let at = ", at db.rs:11 in the calls at api.rs:30, at api.rs:44, 1 poll: tasks 1, 2, 3\n";
        assert_eq!(both, format!("3 waiting, {spawned}{at}"));
        assert!(text(&[(one, &of_a)]).ends_with(", at db.rs:11 in the call at api.rs:30, 1 poll: task 1\n"));
        assert_eq!(text(&[(one, &plain), (one, &[site(true, "at db.rs:12", None)])]).lines().count(), 2);
        // A `select!` polls its branches in any order.
        let [first, second] = ["at a.rs:1", "at b.rs:2"].map(|place| site(true, place, None));
        let select = text(&[(one, &[first.clone(), second.clone()]), (one, &[second, first])]);
        assert!(select.contains(", at a.rs:1 and at b.rs:2, "), "{select}");
        assert_eq!(select.lines().count(), 1, "{select}");
        // A crate waits in the same line for whatever it serves.
        let of_crate = [site(false, "at hyper.rs:1", None)];
        assert_eq!(text(&[(one, &of_crate), (other, &of_crate)]).lines().count(), 2);
    }

    #[test]
    fn closures_are_called_closures() {
        let queued = Some(Duration::from_secs(6));
        let closures = TaskGroup { are_blocking: true, state: TaskState::Scheduled, queued, count: 9, ..group() };
        assert!(closures.to_string().starts_with("9 closures scheduled, spawned at "), "{closures}");
        assert_eq!(after_place(&closures), " queued for up to 6.0 s: closures 7, ...");
        let pool = Pool { running: 3, most: 3, waiting: 9, threads: 3 };
        let groups =
            TaskGroups { groups: vec![group(), closures], unseen: 0, unseen_on_workers: 0, roots: Vec::new(), pool };
        let text = groups.to_string();
        assert!(text.starts_with("1 task and 9 blocking closures\n"), "{text}");
        let pool = "  blocking closures: 3 of at most 3 run, on 3 threads; 9 wait, the first for 6.0 s\n";
        assert!(text.ends_with(pool), "{text}");
    }

    #[test]
    fn the_head_counts_the_tasks_and_the_foot_what_was_not_seen() {
        let text = |groups, unseen, unseen_on_workers| {
            TaskGroups { groups, unseen, unseen_on_workers, roots: Vec::new(), pool: Pool::default() }.to_string()
        };
        assert_eq!(text(Vec::new(), 0, 0), "no tasks\n");
        assert_eq!(text(Vec::new(), 2, 2), "no tasks\n  2 more, queued on workers for their first poll\n");
        assert_eq!(text(Vec::new(), 2, 0), "no tasks\n  2 more, spawned a moment ago\n");
        assert!(text(vec![group()], 0, 0).starts_with("1 task\n  1 waiting, "));
        assert!(text(vec![group(), group()], 0, 0).starts_with("2 tasks\n"));
    }
}
