#[gmp_exec::main]
struct Main;

fn main() {}
