//! Tasks in the order in which they were queued: `runnext` switched off.

use std::sync::mpsc;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use crate::support::{multi, run};

/// The order in which a task's children run.
fn order(builder: &mut gmp_exec::runtime::Builder) -> Vec<u32> {
    let runtime = builder.build().unwrap();
    run(&runtime, async {
        let (sender, order) = mpsc::channel();
        let children = [1, 2, 3, 4].map(|number| {
            let sender = sender.clone();
            spawn(async move { sender.send(number).unwrap() })
        });
        for child in children {
            child.await.unwrap();
        }
        drop(sender);
        order.iter().collect()
    })
}

#[test]
fn tasks_run_in_order_without_runnext_and_the_last_first_with_it() {
    assert_eq!(order(multi(1).disable_lifo_slot()), [1, 2, 3, 4]);
    assert_eq!(order(&mut multi(1))[0], 4);
}

#[test]
fn no_task_is_lost_without_runnext() {
    for processors in [1, 4] {
        let runtime = multi(processors).disable_lifo_slot().build().unwrap();
        let sum = run(&runtime, async {
            let tasks: Vec<_> = (0..1000_u64)
                .map(|number| {
                    spawn(async move {
                        yield_now().await;
                        spawn(async move { number }).await.unwrap()
                    })
                })
                .collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 499_500);
    }
}
