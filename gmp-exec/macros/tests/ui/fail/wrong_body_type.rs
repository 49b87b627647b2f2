#[derive(Debug)]
struct OurError;

#[gmp_exec::main]
async fn main() -> Result<(), OurError> {
    let _ = "1".parse::<u8>();
    42
}

#[gmp_exec::main]
async fn nothing_returned() -> Result<(), OurError> {
    let _ = "1".parse::<u8>();
}

#[gmp_exec::main]
async fn something_returned() {
    "text"
}

#[gmp_exec::main]
async fn error_of_another_type() -> Result<(), OurError> {
    let _: u8 = "1".parse()?;
    Ok(())
}

#[gmp_exec::main]
async fn wrong_early_return() -> u8 {
    if true {
        return "text";
    }
    1
}

#[gmp_exec::main]
async fn inside_the_body() {
    let number: u8 = "text";
    unknown(number);
}
