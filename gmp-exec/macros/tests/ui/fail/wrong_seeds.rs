#[gmp_exec::test(seeds = 0)]
async fn zero() {}

#[gmp_exec::test(seeds = -1)]
async fn negative() {}

#[gmp_exec::test(seeds = "100")]
async fn text() {}

#[gmp_exec::test(seeds)]
async fn without_value() {}

#[gmp_exec::test(seeds = 1, seeds = 2)]
async fn twice() {}

#[gmp_exec::main(seeds = 100)]
async fn program() {}

#[gmp_exec::test(seeds = 100)]
#[should_panic(expected = "a panic")]
async fn panics() {}

fn main() {}
