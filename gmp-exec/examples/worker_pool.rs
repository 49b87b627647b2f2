//! A worker pool: many jobs, of which at most four run at a time.
//!
//! The semaphore has one permit for each job that may run. tokio's `sync` types need no tokio
//! runtime, so a task on gmp uses them as they are.
//!
//!     cargo run -p gmp-exec --example worker_pool

use std::sync::Arc;
use std::time::Duration;

use gmp_exec::task::JoinSet;
use gmp_exec::time::sleep;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const PERMITS: usize = 4;

#[gmp_exec::main]
async fn main() {
    let (sum, most) = run_jobs(20).await;
    println!("the first 20 squares add up to {sum}; at most {most} jobs ran at a time");
}

/// Returns the sum of all results, and how many jobs ran at a time.
async fn run_jobs(jobs: u64) -> (u64, usize) {
    let pool = Arc::new(Semaphore::new(PERMITS));
    let mut running = JoinSet::new();
    for number in 1..=jobs {
        // Waits before it spawns: a job that must wait exists as a number only, not as a task.
        let permit = Arc::clone(&pool).acquire_owned().await.expect("the semaphore is never closed");
        running.spawn(run_job(number, Arc::clone(&pool), permit));
    }
    let results = running.join_all().await;
    let most = results.iter().map(|&(_, at_a_time)| at_a_time).max();
    (results.iter().map(|(square, _)| square).sum(), most.unwrap_or(0))
}

async fn run_job(number: u64, pool: Arc<Semaphore>, permit: OwnedSemaphorePermit) -> (u64, usize) {
    let at_a_time = PERMITS - pool.available_permits();
    sleep(Duration::from_millis(10)).await;
    drop(permit);
    (number * number, at_a_time)
}

#[gmp_exec::test(start_paused = true)]
async fn all_jobs_run_and_never_more_at_a_time_than_there_are_permits() {
    assert_eq!(run_jobs(20).await, (2870, PERMITS));
}
