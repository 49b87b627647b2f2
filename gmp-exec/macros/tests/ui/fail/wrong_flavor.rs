#[gmp_exec::main(flavor = "single_thread")]
async fn main() {}

#[gmp_exec::test(flavor = 4)]
async fn number() {}

#[gmp_exec::test(flavor = multi_thread)]
async fn without_quotes() {}

#[gmp_exec::test(flavor)]
async fn without_value() {}
