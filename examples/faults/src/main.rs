//! A service with one of thirteen faults: `faults NAME`. It prints `ready` when the fault shows, and
//! goes on until it is killed.

mod channels;
mod handlers;
mod locks;
mod tasks;

use std::time::Duration;

use tokio::time::sleep;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    match &*fault {
        "lock-held" => handlers::lock_held().await,
        "computes" => handlers::computes().await,
        "connects" => handlers::connects().await,
        "lost-answer" => handlers::lose_answer().await,
        "deadlock" => locks::deadlock().await,
        "full-channel" => channels::full().await,
        "growing-channel" => channels::grows().await,
        "leak" => tasks::leak(),
        "lost-waker" => tasks::lose_waker(),
        "timers" => tasks::arm_timers(),
        "cancelled-read" => tasks::cancel_reads().await,
        "full-pool" => tasks::fill_pool(),
        "shutdown" => {
            sleep(Duration::from_secs(1)).await;
            println!("ready");
            return tasks::shut_down().await;
        }
        _ => panic!("no such fault: {fault:?}"),
    }
    sleep(Duration::from_secs(1)).await;
    println!("ready");
    std::future::pending().await
}
