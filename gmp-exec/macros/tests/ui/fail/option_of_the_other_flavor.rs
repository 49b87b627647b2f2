#[gmp_exec::main(start_paused = true)]
async fn main() {}

#[gmp_exec::main(flavor = "current_thread", worker_threads = 4)]
async fn current_thread_main() {}

#[gmp_exec::test(worker_threads = 4)]
async fn default_flavor_of_tests() {}

#[gmp_exec::test(flavor = "multi_thread", start_paused = false)]
async fn multi_thread_test() {}
