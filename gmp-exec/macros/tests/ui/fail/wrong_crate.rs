#[gmp_exec::main(crate = gmp_exec)]
async fn main() {}

#[gmp_exec::test(crate = "no path")]
async fn no_path() {}

#[gmp_exec::test(crate)]
async fn without_value() {}
