#[gmp_exec::test(deadlock_after = "soon")]
async fn unknown() {}

#[gmp_exec::test(deadlock_after = 86401)]
async fn too_long() {}

#[gmp_exec::test(deadlock_after = 5s)]
async fn with_a_unit() {}

#[gmp_exec::test(deadlock_after = -1)]
async fn negative() {}

#[gmp_exec::main(deadlock_after)]
async fn main() {}
