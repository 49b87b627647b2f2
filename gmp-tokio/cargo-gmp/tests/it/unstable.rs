//! A program that sets `tokio_unstable`, as many services do in their cargo configuration, says the
//! same on tokio and on gmp.

use std::path::Path;
use std::process::Command;

use crate::support::{Project, manifest, succeeds};

#[test]
fn names_hooks_metrics_and_panics_are_as_on_tokio() {
    let project = Project::with_tokio("\"1\"");
    let features = "[\"macros\", \"rt-multi-thread\", \"time\", \"tracing\"]";
    let tokio = format!("tokio = {{ version = \"1\", features = {features} }}");
    project.write("Cargo.toml", &manifest("unstable-program", &tokio));
    project.write("src/main.rs", PROGRAM);
    project.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"tokio_unstable\"]\n");
    project.lock();
    let on_tokio = run(project.cargo("run --quiet --locked"));
    let on_gmp = run(project.gmp("run --quiet --locked"));
    assert_eq!(on_gmp, on_tokio);
    assert_eq!(on_gmp, SAID);
}

/// These programs have a target directory of their own, because other flags would compile gmp again
/// for all programs.
fn run(mut command: Command) -> String {
    succeeds(command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("unstable-programs")))
}

const PROGRAM: &str = r#"
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::runtime::{Builder, RngSeed, UnhandledPanic};
use tokio::task::{self, JoinSet};

fn main() {
    let count = || Arc::new(AtomicUsize::new(0));
    let counts = [count(), count(), count(), count()];
    let [spawned, polling, polled, ended] = counts.clone();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .disable_lifo_slot()
        .enable_eager_driver_handoff()
        .on_task_spawn(move |task| {
            assert_eq!(task.spawned_at().file(), file!());
            spawned.fetch_add(1, SeqCst);
        })
        .on_before_task_poll(move |_| _ = polling.fetch_add(1, SeqCst))
        .on_after_task_poll(move |_| _ = polled.fetch_add(1, SeqCst))
        .on_task_terminate(move |_| _ = ended.fetch_add(1, SeqCst))
        .build()
        .unwrap();
    let sum = runtime.block_on(async {
        let mut set = JoinSet::new();
        for number in 0..10 {
            let name = format!("number {number}");
            set.build_task().name(&name).spawn(async move { task::yield_now().await; number }).unwrap();
        }
        let named = task::Builder::new().name("sums").spawn(set.join_all()).unwrap();
        named.await.unwrap().iter().sum::<u32>()
    });
    // On tokio, the joiner is woken before the worker counts its task as ended.
    while runtime.metrics().num_alive_tasks() != 0 {
        std::thread::yield_now();
    }
    drop(runtime);
    let [spawned, polling, polled, ended] = counts.map(|count| count.load(SeqCst));
    assert_eq!(polling, polled);
    // On tokio the end of a worker thread counts, too.
    println!("sum {sum}, {spawned} spawned, all ended: {}, at least 21 polls: {}", ended >= spawned, polling >= 21);

    let fragile = Builder::new_current_thread().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap();
    std::panic::set_hook(Box::new(|_| ()));
    fragile.spawn(async { panic!("boom") });
    let end = catch_unwind(AssertUnwindSafe(|| fragile.block_on(std::future::pending::<()>())));
    println!("{}", end.unwrap_err().downcast_ref::<&str>().map_or("another type", |text| text));

    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.on_task_spawn(|_| panic!("no task today")).build().unwrap();
        let end = catch_unwind(AssertUnwindSafe(|| runtime.spawn(async {})));
        println!("spawn: {}", end.unwrap_err().downcast_ref::<&str>().map_or("another type", |text| text));
    }

    let picks = || {
        let seed = RngSeed::from_bytes(b"seed");
        let runtime = Builder::new_current_thread().rng_seed(seed).build().unwrap();
        runtime.block_on(async {
            let mut picks = Vec::new();
            for _ in 0..20 {
                picks.push(tokio::select! { _ = async {} => 'a', _ = async {} => 'b', _ = async {} => 'c' });
            }
            picks
        })
    };
    println!("the same picks: {}", picks() == picks());
}
"#;

const SAID: &str = "\
sum 45, 11 spawned, all ended: true, at least 21 polls: true
a spawned task panicked and the runtime is configured to shut down on unhandled panic
spawn: no task today
spawn: no task today
the same picks: true
";
