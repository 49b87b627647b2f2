//! One JSON object per line.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Deserializer, Serialize};

/// A file with one JSON object per line, or no file.
#[derive(Debug)]
pub struct JsonLines(Option<File>);

impl JsonLines {
    /// Creates the file at `path`; without a path, all lines are discarded.
    pub fn create(path: Option<&Path>) -> Result<Self> {
        let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
        path.map(create).transpose().map(JsonLines)
    }

    pub fn line(&mut self, object: &impl Serialize) -> Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        Ok(file.write_all(format!("{}\n", serde_json::to_string(object)?).as_bytes())?)
    }
}

/// Reads a number. JSON has no NaN: it is written as `null`.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN))
}

pub fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10.0_f64.powi(digits);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::line::tests::line;
    use super::*;
    use crate::measure::Samples;

    #[test]
    fn a_row_is_one_line_and_a_missing_side_is_null() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut row = line("mpsc_1", &[10.0, 30.0], &[60.0]);
        (row.go, row.samples.go) = (Some(7.1), Some(Samples::new(vec![7.1])));
        JsonLines::create(Some(file.path())).unwrap().line(&row).unwrap();
        assert_eq!(
            fs::read_to_string(file.path()).unwrap(),
            concat!(
                r#"{"workload":"mpsc_1","unit":"ns/op","gmp":20.0,"tokio":60.0,"ratio":0.3333,"reps":2,"#,
                r#""smol":null,"go":7.1,"procs":2,"#,
                r#""samples":{"gmp":[10.0,30.0],"tokio":[60.0],"smol":null,"go":[7.1]}}"#,
                "\n"
            )
        );
    }
}
