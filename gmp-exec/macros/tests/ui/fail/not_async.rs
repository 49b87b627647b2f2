#[gmp_exec::main]
fn main() {}

#[gmp_exec::test]
fn test() {}
