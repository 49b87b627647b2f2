#[gmp_exec::main]
async fn main(arguments: Vec<String>) {}
