//! The `tracing` events about tasks that hold their threads. Only the report thread emits them, and
//! it uses the process's subscriber. So each test is a process of its own.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, yield_now};
use gmp_exec::time::sleep;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::support::{Flag, alone, in_child, multi, run, wait_until};

/// Keeps the events of the target `gmp::blocked`.
#[derive(Clone, Default)]
struct Keeper(Arc<Mutex<Vec<Kept>>>);

/// The fields of an event, as text, and what else is known of it.
#[derive(Clone, Debug)]
struct Kept {
    fields: BTreeMap<&'static str, String>,
    level: Level,
    thread: String,
}

impl Kept {
    fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }

    fn is_about(&self, line: u32) -> bool {
        self.get("spawn.line") == line.to_string() && self.get("spawn.file").ends_with("events.rs")
    }

    /// Where cores are crowded, a thread may get none for long, or wait for a lock (the allocator's)
    /// whose holder gets none. The report thread may see that too late to say what the thread waited
    /// for. No crowding makes a thread call anything else that sleeps.
    fn may_be_by_crowding(&self) -> bool {
        self.get("cause") != "blocked" || ["", "futex"].contains(&self.get("syscall"))
    }

    fn is_over(&self) -> bool {
        self.get("is_over") == "true"
    }
}

impl Visit for Kept {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "gmp::blocked"
    }

    fn event(&self, event: &Event<'_>) {
        let thread = thread::current().name().unwrap_or("").to_owned();
        let mut kept = Kept { fields: BTreeMap::new(), level: *event.metadata().level(), thread };
        event.record(&mut kept);
        self.0.lock().unwrap().push(kept);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Keeper {
    /// Becomes the subscriber of the process.
    fn install() -> Keeper {
        let keeper = Keeper::default();
        tracing::subscriber::set_global_default(keeper.clone()).unwrap();
        keeper
    }

    fn about(&self, line: u32) -> Vec<Kept> {
        self.0.lock().unwrap().iter().filter(|kept| kept.is_about(line)).cloned().collect()
    }

    fn wait_for(&self, line: u32, is_expected: impl Fn(&[Kept]) -> bool) -> Vec<Kept> {
        wait_until(|| is_expected(&self.about(line)));
        self.about(line)
    }
}

#[test]
fn a_task_that_blocks_has_an_event_while_it_does_and_one_afterwards() {
    in_child("blocking::events::a_task_that_blocks_has_an_event_while_it_does_and_one_afterwards", || {
        let (keeper, end) = (Keeper::install(), Flag::new());
        let runtime = multi(2).build().unwrap();
        let flag = end.clone();
        let line = line!() + 1;
        let task = runtime.spawn(async move { flag.wait() });
        let events = keeper.wait_for(line, |events| !events.is_empty());
        let found = &events[0];
        assert_eq!(found.get("message"), "a task blocks its thread");
        assert_eq!((found.get("cause"), found.get("is_over"), found.get("count")), ("blocked", "false", "1"));
        assert_eq!(found.get("task.id"), task.id().to_string());
        assert_eq!(found.get("syscall"), "futex", "{found:?}");
        assert_eq!((found.level, found.thread.as_str()), (Level::WARN, "gmp-report"));
        end.set();
        runtime.block_on(task).unwrap();
        let events = keeper.wait_for(line, |events| events.iter().any(Kept::is_over));
        assert_eq!((events.len(), events[1].get("message")), (2, "a task has blocked its thread"), "{events:?}");
        let durations = events.iter().map(|event| event.get("duration_ms").parse::<u64>().unwrap());
        let durations: Vec<u64> = durations.collect();
        let total = runtime.handle().blocked_report().entries[0].total;
        assert!(durations[0] <= durations[1] && u128::from(durations[1]) <= total.as_millis(), "{events:?}");
    });
}

#[test]
fn a_task_that_computes_has_events() {
    in_child("blocking::events::a_task_that_computes_has_events", || {
        let (keeper, end) = (Keeper::install(), Flag::new());
        let runtime = multi(2).build().unwrap();
        let flag = end.clone();
        let line = line!() + 1;
        let task = runtime.spawn(async move { flag.busy_wait() });
        let is_computing = |event: &Kept| event.get("cause") == "computed";
        let found = keeper.wait_for(line, |events| events.iter().any(is_computing));
        let found = found.into_iter().find(is_computing).unwrap();
        assert_eq!((found.get("message"), found.get("syscall")), ("a task computes for long", ""));
        end.set();
        runtime.block_on(task).unwrap();
        keeper.wait_for(line, |events| events.iter().any(|event| is_computing(event) && event.is_over()));
    });
}

#[test]
fn the_descriptor_and_what_it_refers_to_are_fields() {
    in_child("blocking::events::the_descriptor_and_what_it_refers_to_are_fields", || {
        let keeper = Keeper::install();
        let runtime = multi(2).build().unwrap();
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let line = line!() + 1;
        let task = runtime.spawn(async move { reader.read(&mut [0; 1]).unwrap() });
        let events = keeper.wait_for(line, |events| !events.is_empty());
        assert!(["read", "recvfrom"].contains(&events[0].get("syscall")), "{events:?}");
        assert!(events[0].get("fd").parse::<i32>().unwrap() > 2, "{events:?}");
        assert!(events[0].get("fd.target").starts_with("socket:["), "{events:?}");
        drop(writer);
        runtime.block_on(task).unwrap();
    });
}

#[cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn the_function_that_calls_what_blocks_is_a_field() {
    in_child("blocking::events::the_function_that_calls_what_blocks_is_a_field", || {
        let keeper = Keeper::install();
        let runtime = multi(2).build().unwrap();
        let line = line!() + 2;
        let task = runtime.spawn(async {
            thread::sleep(Duration::from_millis(500));
        });
        runtime.block_on(task).unwrap();
        let events = keeper.wait_for(line - 1, |events| events.iter().any(Kept::is_over));
        assert!(events[0].get("caller").ends_with(&format!("blocking/events.rs:{line}")), "{events:?}");
    });
}

/// As the printed lines: the first poll, and then after 2, 4, 8, ...
#[test]
fn a_place_that_blocks_again_and_again_has_few_events() {
    const POLLS: u64 = 1_000;
    in_child("blocking::events::a_place_that_blocks_again_and_again_has_few_events", || {
        let keeper = Keeper::install();
        let runtime = multi(1).build().unwrap();
        runtime.spawn(async {
            loop {
                sleep(Duration::from_millis(1)).await;
            }
        });
        let line = line!() + 1;
        let task = runtime.spawn(async {
            for _ in 0..POLLS {
                thread::sleep(Duration::from_millis(3));
                yield_now().await;
            }
        });
        runtime.block_on(task).unwrap();
        let is_last = |event: &Kept| event.get("count") == "512";
        let events = keeper.wait_for(line, |events| events.iter().any(is_last));
        // A poll has two at most.
        assert!((10..=24).contains(&events.len()), "{events:?}");
    });
}

/// The subscriber's lock is held by the very thread that is stuck, as while it writes to a pipe
/// that is full.
#[test]
fn a_subscriber_whose_lock_the_stuck_thread_holds_delays_nothing_but_the_events() {
    in_child("blocking::events::a_subscriber_whose_lock_the_stuck_thread_holds_delays_nothing_but_the_events", || {
        let (keeper, end) = (Keeper::install(), Flag::new());
        let runtime = multi(1).build().unwrap();
        let (lock, flag) = (keeper.0.clone(), end.clone());
        let line = line!() + 1;
        let task = runtime.spawn(async move {
            let _lock = lock.lock().unwrap();
            flag.wait();
        });
        wait_until(|| !runtime.handle().blocked_report().entries.is_empty());
        // Other tasks, timers and the report go on.
        run(&runtime, async { sleep(Duration::from_millis(20)).await });
        assert_eq!(runtime.handle().blocked_report().entries[0].under_way, 1);
        end.set();
        runtime.block_on(task).unwrap();
        let events = keeper.wait_for(line, |events| events.iter().any(Kept::is_over));
        assert!(events.iter().all(|event| event.thread == "gmp-report"), "{events:?}");
    });
}

#[test]
fn a_subscriber_that_panics_ends_nothing() {
    struct Panics;
    impl Subscriber for Panics {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn event(&self, _: &Event<'_>) {
            panic!("by the subscriber")
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
    in_child("blocking::events::a_subscriber_that_panics_ends_nothing", || {
        tracing::subscriber::set_global_default(Panics).unwrap();
        let runtime = multi(2).build().unwrap();
        let blocks = |runtime: &Runtime| run(runtime, async { thread::sleep(Duration::from_millis(200)) });
        blocks(&runtime);
        wait_until(|| runtime.handle().blocked_report().entries.iter().any(|entry| entry.under_way == 0));
        blocks(&runtime);
        wait_until(|| runtime.handle().blocked_report().entries.iter().any(|entry| entry.count == 2));
    });
}

#[test]
fn a_program_that_blocks_nobody_has_no_event() {
    let _alone = alone();
    in_child("blocking::events::a_program_that_blocks_nobody_has_no_event", || {
        let keeper = Keeper::install();
        let runtime = multi(2).build().unwrap();
        run(&runtime, async {
            for task in (0..1_000).map(|_| spawn(yield_now())).collect::<Vec<_>>() {
                task.await.unwrap();
            }
            block_in_place(|| thread::sleep(Duration::from_millis(100)));
            sleep(Duration::from_millis(20)).await;
        });
        // An event that does come, so that all that came before would be there by now.
        let line = line!() + 1;
        let task = runtime.spawn(async { thread::sleep(Duration::from_millis(300)) });
        runtime.block_on(task).unwrap();
        keeper.wait_for(line, |events| events.iter().any(Kept::is_over));
        let all = keeper.0.lock().unwrap().clone();
        let mut others = all.iter().filter(|event| !event.is_about(line));
        assert!(others.all(Kept::may_be_by_crowding), "{all:?}");
    });
}
