#[gmp_exec::main(flavor = "fast", worker_threads = 0, wat = 1)]
async fn main() {}
