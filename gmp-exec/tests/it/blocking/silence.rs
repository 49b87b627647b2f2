//! Polls that block or compute for ever, and for whose processors nothing waits: sysmon stops
//! looking, and what begins to wait then is served as on an idle runtime.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::time::sleep;

use crate::fake_netpoll::FakeNetpoll;
use crate::idle::{assert_silent, switches};
use crate::support::{FOREVER, Flag, Hog, in_child, multi, wait_until, wait_until_idle};

/// Polls that hold their threads until the guard is dropped.
struct Stuck {
    end: Flag,
}

impl Stuck {
    /// As many polls as given, each of which has begun.
    fn begin(runtime: &Runtime, polls: usize, hog: Hog) -> Stuck {
        let end = Flag::new();
        for _ in 0..polls {
            let (begun, end) = (Flag::new(), end.clone());
            let is_begun = begun.clone();
            runtime.spawn(async move {
                begun.set();
                match hog {
                    Hog::Blocks => end.wait(),
                    Hog::Computes => end.busy_wait(),
                }
            });
            is_begun.wait();
        }
        Stuck { end }
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        self.end.set();
    }
}

#[test]
fn polls_that_block_for_ever_make_no_wake_up() {
    in_child("blocking::silence::polls_that_block_for_ever_make_no_wake_up", || {
        let runtimes = [multi(1), multi(2), multi(2), multi(8)].map(|mut builder| builder.build().unwrap());
        let polls = [1, 1, 5, 3];
        let _stuck =
            Vec::from_iter(runtimes.iter().zip(polls).map(|(runtime, n)| Stuck::begin(runtime, n, Hog::Blocks)));
        assert_silent();
    });
}

/// Also beside a timer in the distant future, and a task that waits for the network.
#[test]
fn a_poll_that_blocks_beside_tasks_that_wait_makes_no_wake_up() {
    in_child("blocking::silence::a_poll_that_blocks_beside_tasks_that_wait_makes_no_wake_up", || {
        let runtime = multi(2).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        runtime.spawn(async move { netpoll.wait().await });
        runtime.spawn(async { sleep(FOREVER).await });
        wait_until_idle(&runtime);
        let _stuck = Stuck::begin(&runtime, 1, Hog::Blocks);
        assert_silent();
    });
}

/// More polls than may compute without a processor.
#[test]
fn polls_that_compute_for_ever_do_not_wake_sysmon() {
    in_child("blocking::silence::polls_that_compute_for_ever_do_not_wake_sysmon", || {
        let runtime = multi(4).max_hogs(1).build().unwrap();
        let _stuck = Stuck::begin(&runtime, 3, Hog::Computes);
        let of_sysmon = || switches().into_iter().find(|(name, _)| name.starts_with("gmp-sysmon ")).unwrap();
        wait_until(|| {
            let before = of_sysmon();
            thread::sleep(Duration::from_secs(2));
            before == of_sysmon()
        });
    });
}

/// The shortest delay of events, each of which comes after a silence: of the first that is at most
/// `enough`, or of a hundred. On a loaded computer most delays may be longer.
fn shortest_delay(runtime: &Runtime, enough: Duration, delay: impl Fn(&Runtime) -> Duration) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(100));
        shortest = shortest.min(delay(runtime));
        if shortest <= enough {
            break;
        }
    }
    shortest
}

/// The delay of a task that is spawned from outside, of a timer, and of an event of the network.
const EVENTS: [fn(&Runtime) -> Duration; 3] = [
    |runtime| {
        let (sender, receiver) = channel();
        let spawned = Instant::now();
        runtime.spawn(async move { sender.send(spawned.elapsed()).unwrap() });
        receiver.recv().unwrap()
    },
    |runtime| {
        let (sender, receiver) = channel();
        let length = Duration::from_millis(100);
        runtime.spawn(async move {
            let set = Instant::now();
            sleep(length).await;
            sender.send(set.elapsed() - length).unwrap();
        });
        receiver.recv().unwrap()
    },
    |runtime| {
        let (sender, receiver) = channel();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let wait = netpoll.clone();
        runtime.spawn(async move {
            wait.wait().await;
            sender.send(Instant::now()).unwrap();
        });
        thread::sleep(Duration::from_millis(100));
        let ready = Instant::now();
        netpoll.make_ready();
        receiver.recv().unwrap() - ready
    },
];

#[test]
fn what_begins_to_wait_in_the_silence_is_served_at_once() {
    for (processors, polls) in [(1, 1), (2, 1)] {
        let runtime = multi(processors).build().unwrap();
        let _stuck = Stuck::begin(&runtime, polls, Hog::Blocks);
        wait_until_idle(&runtime);
        for (event, delay) in EVENTS.into_iter().enumerate() {
            // A sleep of more than 2 ms may end 1.05 ms late.
            let enough = Duration::from_millis(2);
            let delay = shortest_delay(&runtime, enough, delay);
            assert!(delay <= enough, "{processors} processors, event {event}: {delay:?}");
        }
    }
}
