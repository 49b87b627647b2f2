//! actix-rt: a system and arbiters, each a thread with a current-thread runtime and a `LocalSet`.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use actix_rt::{Arbiter, System};
use compat_tests::DEADLINE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{assert_gmp, listen};

/// Futures that stay on their thread share values that can't leave it.
#[test]
fn tasks_of_a_system_share_what_is_not_send() {
    let sum = System::new().block_on(async {
        assert_gmp();
        let sum = Rc::new(Cell::new(0));
        let add = |number: u64| {
            let sum = sum.clone();
            actix_rt::spawn(async move {
                actix_rt::time::sleep(Duration::from_millis(number % 3)).await;
                sum.set(sum.get() + number);
            })
        };
        for task in (0..100).map(add).collect::<Vec<_>>() {
            task.await.expect("a task");
        }
        sum.get()
    });
    assert_eq!(sum, (0..100).sum::<u64>());
}

#[test]
fn a_system_runs_until_it_is_stopped() {
    let system = System::new();
    system.block_on(async {
        actix_rt::spawn(async {
            actix_rt::task::spawn_blocking(assert_gmp).await.expect("a closure");
            System::current().stop_with_code(42);
        });
    });
    assert_eq!(system.run_with_code().expect("a run"), 42);
}

/// A blocked arbiter delays only its own tasks.
#[test]
fn arbiters_serve_each_on_its_own_thread() {
    let system = System::new();
    let arbiters: Vec<_> = (0..3).map(|_| Arbiter::new()).collect();
    let (free, blocked) = mpsc::channel::<()>();
    arbiters[0].spawn_fn(move || {
        blocked.recv().expect_err("nothing is sent");
    });

    for arbiter in &arbiters[1..] {
        let (tell, told) = tokio::sync::oneshot::channel();
        assert!(arbiter.spawn(async {
            assert_gmp();
            let (listener, address) = listen().await;
            tell.send(address).expect("the test waits");
            let (mut stream, _) = listener.accept().await.expect("accepted");
            let number = stream.read_u32().await.expect("read");
            stream.write_u32(number + 1).await.expect("written");
        }));
        system.block_on(async {
            let asking = async {
                let mut stream = TcpStream::connect(told.await.expect("an address")).await.expect("connected");
                stream.write_u32(41).await.expect("written");
                assert_eq!(stream.read_u32().await.expect("read"), 42);
            };
            actix_rt::time::timeout(DEADLINE, asking).await.expect("done long before the deadline");
        });
    }
    drop(free);
    for arbiter in arbiters {
        arbiter.stop();
        arbiter.join().expect("a clean end");
    }
}
