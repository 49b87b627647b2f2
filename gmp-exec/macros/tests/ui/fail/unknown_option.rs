#[gmp_exec::main(workers = 4)]
async fn main() {}

#[gmp_exec::test(multi_thread)]
async fn flavor_as_a_word() {}

#[gmp_exec::test(threads)]
async fn unknown_word() {}

#[gmp_exec::test("multi_thread")]
async fn no_name() {}
