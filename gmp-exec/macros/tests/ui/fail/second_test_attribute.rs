#[gmp_exec::test]
#[test]
async fn short() {}

#[gmp_exec::test]
#[::core::prelude::v1::test]
async fn long() {}

#[gmp_exec::test]
#[gmp_exec::test]
async fn ours() {}

fn main() {}
