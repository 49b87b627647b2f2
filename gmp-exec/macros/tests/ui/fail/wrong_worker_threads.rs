#[gmp_exec::main(worker_threads = "4")]
async fn main() {}

#[gmp_exec::main(worker_threads = 0)]
async fn zero() {}

#[gmp_exec::main(worker_threads = -1)]
async fn negative() {}

#[gmp_exec::main(worker_threads = 1.5)]
async fn fraction() {}

#[gmp_exec::main(worker_threads = 99999999999999999999)]
async fn too_large() {}

#[gmp_exec::main(worker_threads)]
async fn without_value() {}

#[gmp_exec::main(worker_threads = )]
async fn empty_value() {}
