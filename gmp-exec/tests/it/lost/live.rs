//! Tasks that wait for something that still comes: none of them is called lost, and all of them
//! end.

use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use gmp_exec::task::JoinHandle;
use gmp_exec::{spawn, time};
use tokio::sync::{Mutex, Notify, Semaphore, broadcast, mpsc, oneshot, watch};

use super::{lost_at_rest, observing_runtimes};
use crate::support::Watchdog;

/// Tasks, and how the test lets them go on.
struct Live {
    tasks: Vec<JoinHandle<()>>,
    release: BoxFuture<'static, ()>,
}

fn live(tasks: impl IntoIterator<Item = JoinHandle<()>>, release: impl Future<Output = ()> + Send + 'static) -> Live {
    Live { tasks: tasks.into_iter().collect(), release: Box::pin(release) }
}

fn all() -> Vec<Live> {
    vec![
        of_oneshot(),
        of_mpsc(),
        of_mutex(),
        of_notify(),
        of_chain(),
        of_broadcast(),
        of_watch(),
        of_semaphore(),
        of_futures_unordered(),
        of_timer(),
    ]
}

fn of_oneshot() -> Live {
    let (sender, receiver) = oneshot::channel();
    live([spawn(async { receiver.await.unwrap() })], async { sender.send(()).unwrap() })
}

fn of_mpsc() -> Live {
    let (sender, mut receiver) = mpsc::channel(1);
    live([spawn(async move { receiver.recv().await.unwrap() })], async move { sender.send(()).await.unwrap() })
}

fn of_mutex() -> Live {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.clone().try_lock_owned().unwrap();
    live([spawn(async move { _ = mutex.lock().await })], async { drop(guard) })
}

fn of_notify() -> Live {
    let notify = Arc::new(Notify::new());
    let waiting = notify.clone();
    live([spawn(async move { waiting.notified().await })], async move { notify.notify_one() })
}

/// Two of the tasks await another one, which awaits the channel.
fn of_chain() -> Live {
    let (sender, receiver) = oneshot::channel();
    let last = spawn(async { receiver.await.unwrap() });
    let middle = spawn(async { last.await.unwrap() });
    live([spawn(async { middle.await.unwrap() })], async { sender.send(()).unwrap() })
}

fn of_broadcast() -> Live {
    let (sender, mut receiver) = broadcast::channel(1);
    live([spawn(async move { receiver.recv().await.unwrap() })], async move { _ = sender.send(()).unwrap() })
}

fn of_watch() -> Live {
    let (sender, mut receiver) = watch::channel(());
    live([spawn(async move { receiver.changed().await.unwrap() })], async move { sender.send(()).unwrap() })
}

fn of_semaphore() -> Live {
    let semaphore = Arc::new(Semaphore::new(0));
    let waiting = semaphore.clone();
    live([spawn(async move { _ = waiting.acquire().await.unwrap() })], async move { semaphore.add_permits(1) })
}

fn of_futures_unordered() -> Live {
    let (sender, receiver) = oneshot::channel::<()>();
    let task = spawn(async { _ = [receiver].into_iter().collect::<FuturesUnordered<_>>().next().await });
    live([task], async { sender.send(()).unwrap() })
}

/// It ends by itself; the release only waits for that.
fn of_timer() -> Live {
    let (done, end) = oneshot::channel::<()>();
    let sleep = async move {
        time::sleep(time::Duration::from_secs(1)).await;
        drop(done);
    };
    live([spawn(sleep)], async { _ = end.await })
}

#[test]
fn tasks_that_will_be_woken_are_not_called_lost_and_end() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let all = all();
            assert_eq!(lost_at_rest(0).await, []);
            for Live { tasks, release } in all {
                release.await;
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
    }
}
