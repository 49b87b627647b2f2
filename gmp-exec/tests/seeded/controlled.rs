//! What a seed controls beside the order of tasks.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::child::run;

const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn scenario() {
    let (begun, date) = (Instant::now(), SystemTime::now());
    thread::sleep(HOUR);
    assert!(begun.elapsed() >= HOUR && date.elapsed().unwrap() >= HOUR);
    wait_for_each_other();
    let (sender, receiver) = mpsc::channel::<()>();
    assert!(receiver.recv_timeout(HOUR).is_err());
    drop(sender);
    let order: Vec<u32> = (0..20).collect::<HashSet<u32>>().into_iter().collect();
    println!("order: {order:?}");
    println!("date: {:?}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap());
}

/// Plain threads, which hold a lock while others want it.
fn wait_for_each_other() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let add = |shared: Arc<(Mutex<u32>, Condvar)>| {
        let mut value = shared.0.lock().unwrap();
        thread::sleep(Duration::from_millis(1));
        *value += 1;
        shared.1.notify_all();
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || add(shared))
        })
        .collect();
    let mut value = shared.0.lock().unwrap();
    while *value < 4 {
        value = shared.1.wait(value).unwrap();
    }
    drop(value);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn time_is_virtual_and_random_numbers_come_from_the_seed() {
    let begun = Instant::now();
    let (one, same, other) = (run("controlled", 1), run("controlled", 1), run("controlled", 2));
    for run in [&one, &same, &other] {
        assert_eq!((run.field("end"), run.field("outside")), ("ok", "[]"), "{run:#?}");
    }
    assert_eq!(one.stdout, same.stdout);
    assert_ne!(one.stdout, other.stdout);
    assert!(begun.elapsed() < HOUR, "each run sleeps for hours");
}

pub(crate) fn handles_a_signal() {
    let is_set = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGUSR1, is_set.clone()).unwrap();
    signal_hook::low_level::raise(libc::SIGUSR1).unwrap();
    assert!(is_set.load(SeqCst));
}

/// The program's own signal would repeat, but one of another process would not.
#[test]
fn a_handler_of_a_signal_is_named() {
    let run = run("handles_a_signal", 1);
    assert_eq!((run.field("end"), run.field("outside")), ("ok", "[\"sigaction 10\"]"), "{run:#?}");
}
