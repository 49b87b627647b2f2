//! Which task has locked the mutex or `RwLock`, or has the permits, that another task waits for, and tasks
//! that wait for each other's mutexes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{env, thread};

use compat_tests::DEADLINE;
use gmp_exec::runtime::{Handle, Leaks, TaskInfo, TaskState, WaitsFor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, RwLock, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{interval, sleep, timeout};

const CASE: &str = "GMP_TEST_CASE";

/// Runs a test on a runtime whose settings ask which task has locked which mutex.
fn on_asking_runtimes<F: Future<Output = ()>>(test: impl Fn() -> F) {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder.enable_all().leaks(Leaks::Warn).build().unwrap();
        runtime.block_on(async { timeout(DEADLINE, test()).await.expect("done before the deadline") });
    }
}

fn id(task: &JoinHandle<()>) -> String {
    task.id().to_string()
}

/// The task, as a walk finds it that has begun when it waits for a lock: a walk asks at its beginning
/// which task has locked which mutex.
async fn once_it_locks(task: &JoinHandle<()>) -> TaskInfo {
    let is_it = |info: &TaskInfo| info.id.to_string() == id(task) && info.state == TaskState::Waiting;
    let locks = |info: &TaskInfo| {
        let kinds = ["Lock", "Mutex", "Semaphore"];
        info.waits_for.iter().any(|wait| kinds.iter().any(|kind| wait.to_string().contains(kind)))
    };
    loop {
        let find = || Handle::current().tasks().find(|info| is_it(info) && locks(info));
        if let Some(info) = find().and_then(|_| find()) {
            return info;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

/// The holder of the mutex for which the task waits.
async fn holder(task: &JoinHandle<()>) -> Option<String> {
    let info = once_it_locks(task).await;
    info.waits_for
        .iter()
        .find_map(|wait| if let WaitsFor::Sync { holder, .. } = wait { holder.map(|id| id.to_string()) } else { None })
}

/// A line of this file, as the dump names it.
fn at(line: u32) -> String {
    format!("{}:{line}", file!())
}

/// The line in which [`holds`] locks.
const HOLDS: u32 = line!() + 7;

/// A task that has locked the mutex, until it is notified.
async fn holds(mutex: &Arc<Mutex<()>>) -> (JoinHandle<()>, Arc<Notify>) {
    let (mutex, locked, end) = (mutex.clone(), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, until) = (locked.clone(), end.clone());
    let task = tokio::spawn(async move {
        let _guard = mutex.lock().await;
        tell.notify_one();
        until.notified().await;
    });
    locked.notified().await;
    (task, end)
}

/// The line in which [`wants`] locks.
const WANTS: u32 = line!() + 5;

fn wants(mutex: &Arc<Mutex<()>>) -> JoinHandle<()> {
    let mutex = mutex.clone();
    tokio::spawn(async move {
        let _guard = mutex.lock().await;
        std::future::pending::<()>().await;
    })
}

#[test]
fn the_task_that_has_locked_a_mutex_is_named() {
    on_asking_runtimes(|| async {
        let mutex = Arc::new(Mutex::new(()));
        let (first, end) = holds(&mutex).await;
        let second = wants(&mutex);
        assert_eq!(holder(&second).await, Some(id(&first)));
        let third = wants(&mutex);
        assert_eq!(holder(&third).await, Some(id(&first)));
        let json = once_it_locks(&third).await.json().to_string();
        let expected = format!(r#""holder":{},"locked_at":"{}","other_holders":0,"held":1}}"#, first.id(), at(HOLDS));
        assert!(json.contains(&expected), "{json}");
        end.notify_one();
        first.await.unwrap();
        while holder(&third).await != Some(id(&second)) {
            sleep(Duration::from_millis(1)).await;
        }
        let tree = Handle::current().tasks().tree().to_string();
        assert!(tree.contains(&format!(" (locked by task {} at {})\n", second.id(), at(WANTS))), "{tree}");
        assert!(!tree.contains("deadlock"), "{tree}");
    });
}

#[test]
fn a_mutex_that_was_locked_outside_of_a_task_has_no_known_holder() {
    on_asking_runtimes(|| async {
        let mutex = Arc::new(Mutex::new(()));
        let (first, end) = holds(&mutex).await;
        end.notify_one();
        first.await.unwrap();
        let guard: OwnedMutexGuard<()> = mutex.clone().try_lock_owned().unwrap();
        let task = wants(&mutex);
        assert_eq!(holder(&task).await, None);
        drop(guard);
    });
}

/// A task reads while a second one waits to write, and a third one to read behind it.
#[test]
fn a_task_that_reads_is_named_and_one_that_writes() {
    on_asking_runtimes(|| async {
        let (lock, is_read) = (Arc::new(RwLock::new(())), Arc::new(Notify::new()));
        let (read, tell) = (lock.clone(), is_read.clone());
        let reads = tokio::spawn(async move {
            let _guard = read.read().await;
            tell.notify_one();
            std::future::pending::<()>().await;
        });
        is_read.notified().await;
        let wants = |lock: Arc<RwLock<()>>| {
            tokio::spawn(async move {
                let _guard = lock.write().await;
                std::future::pending::<()>().await;
            })
        };
        let writes = wants(lock.clone());
        assert_eq!(holder(&writes).await, Some(id(&reads)));
        reads.abort();
        assert!(reads.await.unwrap_err().is_cancelled());
        let waits = wants(lock);
        // The lock is given to the task before its next poll, in which it is noted as the holder.
        while holder(&waits).await != Some(id(&writes)) {
            sleep(Duration::from_millis(1)).await;
        }
    });
}

/// The text of the task's one wait, behind the place of the semaphore.
async fn permits(task: &JoinHandle<()>) -> String {
    let text = once_it_locks(task).await.waits_for[0].to_string();
    let (head, place) = text.split_once(" created at ").unwrap();
    assert_eq!(head, "to acquire 1 of a tokio Semaphore");
    place.split_once(" (").map_or_else(String::new, |(_, permits)| permits.strip_suffix(')').unwrap().to_owned())
}

/// The line in which [`acquires`] acquires permits.
const ACQUIRES: u32 = line!() + 7;

/// A task that acquires so many permits, until it is notified. Then it gives one back, and keeps the others.
async fn acquires(semaphore: &Arc<Semaphore>, count: u32) -> (JoinHandle<()>, Arc<Notify>) {
    let (semaphore, acquired, back) = (semaphore.clone(), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, until) = (acquired.clone(), back.clone());
    let task = tokio::spawn(async move {
        let mut permits = semaphore.acquire_many(count).await.unwrap();
        tell.notify_one();
        until.notified().await;
        drop(permits.split(1));
        tell.notify_one();
        std::future::pending::<()>().await;
    });
    acquired.notified().await;
    (task, back)
}

/// The line in which [`wants_permit`] acquires one.
const WANTS_PERMIT: u32 = line!() + 5;

fn wants_permit(semaphore: &Arc<Semaphore>) -> JoinHandle<()> {
    let semaphore = semaphore.clone();
    tokio::spawn(async move {
        let _permit = semaphore.acquire().await;
        std::future::pending::<()>().await;
    })
}

#[test]
fn the_tasks_that_have_permits_are_named() {
    on_asking_runtimes(|| async {
        let semaphore = Arc::new(Semaphore::new(3));
        let (first, back) = acquires(&semaphore, 2).await;
        let (second, _) = acquires(&semaphore, 1).await;
        let third = wants_permit(&semaphore);
        let expected = format!("3 permits acquired by task {} at {} and 1 other task", first.id(), at(ACQUIRES));
        assert_eq!(permits(&third).await, expected);
        let fourth = wants_permit(&semaphore);
        assert_eq!(permits(&fourth).await, expected);
        let tree = Handle::current().tasks().tree().to_string();
        let found = |line: String| tree.find(&line).unwrap_or_else(|| panic!("{line:?} is not in {tree}"));
        let below = [&first, &second].map(|task| found(format!("\n  task {}, spawned at ", task.id())));
        assert!(below.into_iter().all(|below| found(format!("task {}, ", third.id())) < below), "{tree}");
        // Who waits longest gets the permit.
        back.notify_one();
        let expected = format!("3 permits acquired by task {} at {} and 2 other tasks", first.id(), at(ACQUIRES));
        while permits(&fourth).await != expected {
            sleep(Duration::from_millis(1)).await;
        }
        let groups = Handle::current().tasks().groups().to_string();
        assert!(groups.contains(&format!(" ({expected}), ")), "{groups}");
    });
}

/// A pool of connections forgets the permit, and adds one when the connection comes back.
#[test]
fn a_task_that_has_forgotten_its_permit_has_it_until_it_adds_one() {
    on_asking_runtimes(|| async {
        let (semaphore, end) = (Arc::new(Semaphore::new(1)), Arc::new(Notify::new()));
        let (pool, until) = (semaphore.clone(), end.clone());
        let line = line!() + 2;
        let has = tokio::spawn(async move {
            pool.acquire().await.unwrap().forget();
            until.notified().await;
            pool.add_permits(1);
        });
        while semaphore.available_permits() > 0 {
            sleep(Duration::from_millis(1)).await;
        }
        let waits = wants_permit(&semaphore);
        assert_eq!(permits(&waits).await, format!("1 permit acquired by task {} at {}", has.id(), at(line)));
        let waits_longer = wants_permit(&semaphore);
        end.notify_one();
        let expected = format!("1 permit acquired by task {} at {}", waits.id(), at(WANTS_PERMIT));
        while permits(&waits_longer).await != expected {
            sleep(Duration::from_millis(1)).await;
        }
    });
}

/// As a server that limits its connections: permits go to the tasks that it spawns.
#[test]
fn a_task_whose_permits_are_with_others_is_in_no_deadlock() {
    on_asking_runtimes(|| async {
        let (semaphore, end) = (Arc::new(Semaphore::new(2)), Arc::new(Notify::new()));
        let (limit, until) = (semaphore.clone(), end.clone());
        let line = line!() + 3;
        let accepts = tokio::spawn(async move {
            for _ in 0..3 {
                let (permit, until) = (limit.clone().acquire_owned().await.unwrap(), until.clone());
                tokio::spawn(async move {
                    until.notified().await;
                    drop(permit);
                });
            }
        });
        let expected = format!("2 permits acquired by task {} at {}", accepts.id(), at(line));
        assert_eq!(permits(&accepts).await, expected);
        let tree = Handle::current().tasks().tree().to_string();
        assert!(!tree.contains("deadlock"), "{tree}");
        end.notify_one();
        accepts.await.unwrap();
    });
}

/// The next value at that place has the same address.
#[test]
fn permits_of_a_semaphore_that_has_ended_are_nobodys() {
    on_asking_runtimes(|| async {
        let task = tokio::spawn(async {
            let mut semaphore = Semaphore::new(1);
            semaphore.acquire().await.unwrap().forget();
            semaphore = Semaphore::new(0);
            drop(semaphore.acquire().await);
        });
        assert_eq!(permits(&task).await, "");
    });
}

/// A function takes the place from its caller, also where the call is asynchronous.
#[test]
fn the_place_of_each_call_is_told() {
    macro_rules! is_told {
        ($new:expr, $wants:ident, $lock:ident => $locked:expr) => {{
            let ($lock, locked) = (Arc::new($new), Arc::new(Notify::new()));
            let (wanted, tell) = ($lock.clone(), locked.clone());
            let holds = tokio::spawn(async move {
                let _guard = $locked;
                tell.notify_one();
                std::future::pending::<()>().await;
            });
            locked.notified().await;
            let wants = tokio::spawn(async move { drop(wanted.$wants().await) });
            let text = once_it_locks(&wants).await.waits_for[0].to_string();
            assert!(text.ends_with(&format!(" by task {} at {})", holds.id(), at(line!()))), "{text}: {}", line!());
        }};
    }
    on_asking_runtimes(|| async {
        is_told!(Mutex::new(()), lock, mutex => mutex.lock().await);
        is_told!(Mutex::new(()), lock, mutex => mutex.lock_owned().await);
        is_told!(Mutex::new(()), lock, mutex => mutex.try_lock().unwrap());
        is_told!(Mutex::new(()), lock, mutex => mutex.try_lock_owned().unwrap());
        is_told!(RwLock::new(()), write, lock => lock.read().await);
        is_told!(RwLock::new(()), write, lock => lock.read_owned().await);
        is_told!(RwLock::new(()), write, lock => lock.try_read().unwrap());
        is_told!(RwLock::new(()), write, lock => lock.try_read_owned().unwrap());
        is_told!(RwLock::new(()), read, lock => lock.write().await);
        is_told!(RwLock::new(()), read, lock => lock.write_owned().await);
        is_told!(RwLock::new(()), read, lock => lock.try_write().unwrap());
        is_told!(RwLock::new(()), read, lock => lock.try_write_owned().unwrap());
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.acquire().await);
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.acquire_many(1).await);
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.acquire_owned().await);
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.acquire_many_owned(1).await);
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.try_acquire().unwrap());
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.try_acquire_many(1).unwrap());
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.try_acquire_owned().unwrap());
        is_told!(Semaphore::new(1), acquire, semaphore => semaphore.try_acquire_many_owned(1).unwrap());
    });
}

/// Each permit of a task may have been acquired elsewhere, and it is not known which is given back.
#[test]
fn permits_by_several_calls_are_told_as_such() {
    on_asking_runtimes(|| async {
        let (semaphore, both) = (Arc::new(Semaphore::new(2)), Arc::new(Notify::new()));
        let (pool, tell) = (semaphore.clone(), both.clone());
        let line = line!() + 3;
        let has = tokio::spawn(async move {
            let _first = pool.acquire().await;
            let _second = pool.acquire().await;
            tell.notify_one();
            std::future::pending::<()>().await;
        });
        both.notified().await;
        let expected = format!("2 permits acquired by task {} at {} and elsewhere", has.id(), at(line));
        assert_eq!(permits(&wants_permit(&semaphore)).await, expected);
    });
}

/// Of two mutexes, the task that waits for one in a `select!` waits for the right one.
#[test]
fn each_of_two_mutexes_has_its_holder() {
    on_asking_runtimes(|| async {
        let a = Arc::new(Mutex::new(()));
        let b = Arc::new(Mutex::new(()));
        let [(of_a, _), (of_b, _)] = [holds(&a).await, holds(&b).await];
        let task = tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = a.lock() => {}
                _ = b.lock() => {}
            }
        });
        let info = once_it_locks(&task).await;
        let holders: Vec<String> = info.waits_for.iter().map(ToString::to_string).collect();
        assert!(holders[0].ends_with(&format!(" (locked by task {} at {})", of_a.id(), at(HOLDS))), "{holders:?}");
        assert!(holders[1].ends_with(&format!(" (locked by task {} at {})", of_b.id(), at(HOLDS))), "{holders:?}");
    });
}

/// Two tasks that wait for each other's mutexes. As in a handler of hyper's, each also reads.
async fn deadlock(reads: bool) -> [JoinHandle<()>; 2] {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mutexes = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let meet = Arc::new(tokio::sync::Barrier::new(2));
    let tasks = [0, 1].map(|number| {
        let (first, second, meet) = (mutexes[number].clone(), mutexes[1 - number].clone(), meet.clone());
        tokio::spawn(async move {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let _guard = first.lock().await;
            meet.wait().await;
            if reads {
                tokio::select! {
                    _ = socket.read_u8() => {}
                    _ = second.lock() => {}
                }
            } else {
                drop(second.lock().await);
            }
        })
    });
    // The connections stay.
    thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    tasks
}

#[test]
fn tasks_that_wait_for_each_others_mutexes_are_a_deadlock() {
    on_asking_runtimes(|| async {
        for reads in [false, true] {
            let wakes = if reads { "something else wakes them or " } else { "" };
            let begin = format!("deadlock, unless {wakes}a guard is with another task: task ");
            let tasks = deadlock(reads).await;
            let text = loop {
                let text = Handle::current().tasks().tree().to_string();
                if text.starts_with("deadlock") {
                    break text;
                }
                sleep(Duration::from_millis(1)).await;
            };
            let line = text.lines().next().unwrap();
            assert!(line.starts_with(&begin), "{text}");
            for (task, other) in [(&tasks[0], &tasks[1]), (&tasks[1], &tasks[0])] {
                let expected = format!("task {}, spawned at ", task.id());
                assert!(line.contains(&expected), "{expected}: {text}");
                assert!(line.contains(&format!(" (locked by task {}", other.id())), "{text}");
            }
            assert_eq!(line.matches("waits to lock a tokio Mutex created at ").count(), 2, "{text}");
            assert_eq!(line.matches("locks.rs:").count(), 6, "{text}");
            // The end of one lets the other one go on.
            tasks[0].abort();
            tasks.map(drop);
        }
    });
}

/// The connections' tasks read beside their handlers, and each of them was spawned by axum.
#[test]
fn handlers_of_a_service_that_wait_for_each_others_mutexes_are_a_deadlock() {
    on_asking_runtimes(|| async {
        let mutexes = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
        let meet = Arc::new(tokio::sync::Barrier::new(2));
        let handler = |number: usize| {
            let (first, second, meet) = (mutexes[number].clone(), mutexes[1 - number].clone(), meet.clone());
            axum::routing::get(async move || {
                let _guard = first.lock().await;
                meet.wait().await;
                drop(second.lock().await);
            })
        };
        let routes = axum::Router::new().route("/0", handler(0)).route("/1", handler(1));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        let mut clients = Vec::new();
        for number in 0..2 {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(format!("GET /{number} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await.unwrap();
            clients.push(client);
        }
        let text = loop {
            let text = Handle::current().tasks().tree().to_string();
            if text.starts_with("deadlock, unless something else wakes them or a guard is with another task: task ") {
                break text;
            }
            sleep(Duration::from_millis(1)).await;
        };
        let line = text.lines().next().unwrap();
        assert_eq!(line.matches("waits to lock a tokio Mutex created at ").count(), 2, "{text}");
        assert_eq!(line.matches(" (locked by task ").count(), 2, "{text}");
        let groups = Handle::current().tasks().groups().to_string();
        assert!(groups.contains(&format!(", waits for a connection to {address} (fd ")), "{groups}");
        server.abort();
    });
}

/// Of two tasks that want each other's mutexes, one has given its guard to a third one, which unlocks:
/// nothing is stuck.
#[test]
fn tasks_go_on_whose_guard_is_with_another_one() {
    on_asking_runtimes(|| async {
        let (given, kept, end) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())), Arc::new(Notify::new()));
        let guard_of = async |mutex: &Arc<Mutex<()>>| mutex.clone().lock_owned().await;
        let meet = Arc::new(tokio::sync::Barrier::new(2));
        let (lock, want, at, until) = (given.clone(), kept.clone(), meet.clone(), end.clone());
        let gives = tokio::spawn(async move {
            let guard = guard_of(&lock).await;
            tokio::spawn(async move {
                until.notified().await;
                drop(guard);
            });
            at.wait().await;
            drop(guard_of(&want).await);
        });
        let keeps = tokio::spawn(async move {
            let _guard = guard_of(&kept).await;
            meet.wait().await;
            drop(guard_of(&given).await);
        });
        let text = loop {
            let text = Handle::current().tasks().tree().to_string();
            if text.starts_with("deadlock") {
                break text;
            }
            sleep(Duration::from_millis(1)).await;
        };
        assert!(text.starts_with("deadlock, unless a guard is with another task: task "), "{text}");
        end.notify_one();
        keeps.await.unwrap();
        gives.await.unwrap();
    });
}

/// Timers and other tasks go on meanwhile.
#[test]
fn such_a_deadlock_is_printed_once_after_a_time_limit() {
    for flavor in ["multi", "current"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "locks::in_a_child"]).env("GMP_DEADLOCK_AFTER", "0.3");
        let mut child =
            command.env(CASE, flavor).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a child");
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let lines: Vec<String> = lines.filter(|line| line.contains("deadlock")).collect();
        assert!(child.wait().unwrap().success());
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("gmp: deadlock, unless a guard is with another task: task ")
                && lines[0].contains("locks.rs:"),
            "{lines:?}"
        );
    }
}

#[test]
fn in_a_child() {
    let Ok(flavor) = env::var(CASE) else { return };
    let multi = flavor == "multi";
    let mut builder = if multi { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        let _tasks = deadlock(false).await;
        let mut ticks = interval(Duration::from_millis(10));
        for _ in 0..200 {
            ticks.tick().await;
        }
    });
}
