//! One P, and a task whose polls sleep for 30 ms, with a short poll between each two, as in a
//! connection that reads before it asks a database. Once the scheduler knows the task, the task
//! should hand its P off by itself, so that sysmon need not take it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{io, thread};

use gmp_benches::rt::{Gmp, Rt};

use super::{Figure, Numbers, Process};
use crate::histogram::millis;
use crate::ticker;

const LONG_POLLS: usize = 60;
const SLEEP: Duration = Duration::from_millis(30);

/// tokio has no Ps that can be taken.
pub(crate) const ROW: Numbers = Numbers {
    name: "forgiven: 1 P, 60 polls sleep 30 ms",
    figures: &[
        Figure::wanted("Ps taken", "takes", 10.0, 2.0),
        Figure::shown("ticker p99", "ms"),
        Figure::shown("ticker max", "ms"),
    ],
    process: Process::This,
    gmp: |_| measure(),
    tokio: None,
};

fn measure() -> io::Result<Vec<f64>> {
    let rt = Gmp::new(1)?;
    let (ticks, ()) = ticker::beside(&rt, &Arc::new(AtomicBool::new(false)), || {
        rt.block_on(rt.spawn_remote(long_and_short())).expect("the task that sleeps doesn't panic");
    });
    let takes = rt.takes();
    rt.shutdown(Duration::from_secs(10));
    Ok(vec![takes as f64, millis(&ticks, 99.0), millis(&ticks, 100.0)])
}

async fn long_and_short() {
    for _ in 0..LONG_POLLS {
        thread::sleep(SLEEP);
        Gmp::yield_now().await;
        // The next poll is the short one.
        Gmp::yield_now().await;
    }
}
