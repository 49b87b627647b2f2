//! Results for other programs: a line of JSON for each test.

use std::path::Path;

use anyhow::{Context, Result};
use tinyjson::JsonValue;

use super::explore::{Outcome, Tried};
use super::listing::Test;

pub(super) fn write(path: &Path, tests: &[Test], tried: &[Tried]) -> Result<()> {
    let lines = tests.iter().zip(tried).map(|(test, tried)| Ok(line(test, tried)? + "\n"));
    let text = lines.collect::<Result<String>>()?;
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}

/// The fields always come in this order.
fn line(test: &Test, tried: &Tried) -> Result<String> {
    let text = |text: &str| JsonValue::from(text.to_owned());
    let mut fields = vec![
        ("package", text(test.program.package())),
        ("program", text(&test.program.name())),
        ("test", text(&test.name)),
        ("seeds", JsonValue::from(tried.seeds as f64)),
        ("outcome", text(tried.outcome())),
    ];
    if let Outcome::Failed(failure) = &tried.outcome {
        fields.push(("seed", text(&format!("{:x}", failure.seed))));
        fields.push(("reason", text(&failure.ending.reason)));
        fields.push(("seconds", JsonValue::from(failure.time.as_secs_f64())));
        fields.push(("output", text(&failure.output.to_string_lossy())));
        fields.extend(failure.shrunk.iter().map(|shrunk| ("choices", text(&shrunk.file.to_string_lossy()))));
    }
    fields.push(("repeats", JsonValue::from(tried.difference.is_none())));
    let fields = fields.iter().map(|(name, value)| Ok(format!("\"{name}\":{}", value.stringify()?)));
    Ok(format!("{{{}}}", fields.collect::<Result<Vec<_>>>()?.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::explore::Failure;

    #[test]
    fn fields_have_an_order_and_values_are_escaped() {
        let test = Test::named("app", "a\"b");
        let failure = Failure::new(0x5f, "a\nb");
        let line = line(&test, &Tried { seeds: 3, outcome: Outcome::Failed(failure), difference: None }).unwrap();
        let begin = r#"{"package":"app","program":"app","test":"a\"b","seeds":3,"outcome":"failed","seed":"5f","reason":"a\nb","seconds":"#;
        assert!(line.starts_with(begin) && line.ends_with(",\"repeats\":true}"), "{line}");
        line.parse::<JsonValue>().unwrap();
    }
}
