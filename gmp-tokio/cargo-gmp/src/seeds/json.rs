//! Results for other programs: a line of JSON for each test.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use tinyjson::JsonValue;

use super::explore::{Outcome, Tried};
use super::listing::Test;

pub(super) fn write(path: &Path, tests: &[Test], tried: &[Tried]) -> Result<()> {
    let lines = tests.iter().zip(tried).map(|(test, tried)| Ok(line(test, tried)?.stringify()? + "\n"));
    let text = lines.collect::<Result<String>>()?;
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}

fn line(test: &Test, tried: &Tried) -> Result<JsonValue> {
    let text = |text: &str| JsonValue::from(text.to_owned());
    let mut fields = HashMap::from([
        ("package".to_owned(), text(test.program.package())),
        ("program".to_owned(), text(&test.program.name())),
        ("test".to_owned(), text(&test.name)),
        ("seeds".to_owned(), JsonValue::from(tried.seeds as f64)),
        ("outcome".to_owned(), text(tried.outcome())),
    ]);
    if let Outcome::Failed(failure) = &tried.outcome {
        fields.insert("seed".to_owned(), text(&format!("{:x}", failure.seed)));
        fields.insert("reason".to_owned(), text(&failure.ending.reason));
        fields.insert("seconds".to_owned(), JsonValue::from(failure.time.as_secs_f64()));
        fields.insert("output".to_owned(), text(&failure.output.to_string_lossy()));
        let choices = failure.shrunk.iter().map(|shrunk| ("choices".to_owned(), text(&shrunk.file.to_string_lossy())));
        fields.extend(choices);
    }
    fields.insert("repeats".to_owned(), JsonValue::from(tried.difference.is_none()));
    Ok(JsonValue::from(fields))
}
