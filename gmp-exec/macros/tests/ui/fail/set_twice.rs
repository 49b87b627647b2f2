#[gmp_exec::main(worker_threads = 1, worker_threads = 1)]
async fn main() {}

#[gmp_exec::test(flavor = "multi_thread", worker_threads = 1, flavor = "current_thread")]
async fn flavor() {}

#[gmp_exec::test(start_paused = true, start_paused = true)]
async fn start_paused() {}

#[gmp_exec::test(crate = "::gmp_exec", crate = "::gmp_exec")]
async fn crate_path() {}
