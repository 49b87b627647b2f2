#[gmp_exec::test(leaks = "fail")]
async fn unknown() {}

#[gmp_exec::test(leaks)]
async fn without_value() {}

fn main() {}
