#[gmp_exec::main(flavor = "current_thread", start_paused = 1)]
async fn main() {}

#[gmp_exec::test(start_paused)]
async fn without_value() {}

#[gmp_exec::test(start_paused = "true")]
async fn string() {}
