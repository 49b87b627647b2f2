//! One JSON object per line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use super::line::{Line, tenths};
use super::{Row, Table};

/// A file with one JSON object per line, or no file.
#[derive(Debug)]
pub struct JsonLines(Option<File>);

impl JsonLines {
    /// Creates the file at `path`; without a path, all lines are discarded.
    ///
    /// # Errors
    ///
    /// The file can't be created.
    pub fn create(path: Option<&Path>) -> io::Result<Self> {
        let create = |path: &Path| {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
            File::create(path).map_err(named)
        };
        path.map(create).transpose().map(JsonLines)
    }

    /// Writes a row of the table, measured with `procs` Ps.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn row(&mut self, row: &Row, procs: usize) -> io::Result<()> {
        self.line(&Line::new(row, procs))
    }

    /// Writes the geometric means of the scheduler's rows as a row, if all of them were measured.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn mean(&mut self, table: &Table) -> io::Result<()> {
        Line::mean(table).map_or(Ok(()), |mean| self.line(&mean))
    }

    /// Writes a row of another program: the medians of gmp and of tokio over the repetitions, with
    /// the number of Ps.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn medians(&mut self, workload: &str, unit: &str, medians: (f64, f64), of: (usize, usize)) -> io::Result<()> {
        let ((gmp, tokio), (reps, procs)) = (medians, of);
        let ratio = rounded(gmp / tokio, 4);
        self.line(&Medians { workload, unit, gmp: tenths(gmp), tokio: tenths(tokio), ratio, reps, procs })
    }

    /// Writes any object.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn line(&mut self, object: &impl Serialize) -> io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let mut line = serde_json::to_string(object)?;
        line.push('\n');
        file.write_all(line.as_bytes())
    }
}

/// The keys of a row of another program.
#[derive(Serialize)]
struct Medians<'a> {
    workload: &'a str,
    unit: &'a str,
    gmp: f64,
    tokio: f64,
    ratio: f64,
    reps: usize,
    procs: usize,
}

/// The points of a curve of latencies.
pub const PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0];

/// Reads a number. JSON has no NaN: it is written as `null`.
///
/// # Errors
///
/// The value is neither a number nor `null`.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::deserialize(deserializer).map(|number| number.unwrap_or(f64::NAN))
}

/// Rounds `value` to this number of decimals.
pub fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10.0_f64.powi(digits);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::measure::Samples;
    use crate::workloads::Group;

    fn row() -> Row {
        Row {
            name: "mpsc_1",
            group: Group::Scheduler,
            unit: "ns/op",
            goal: None,
            modes: None,
            gmp: Samples::new(vec![30.0, 10.0]),
            tokio: Samples::new(vec![60.0]),
            smol: None,
            go: Some(Samples::new(vec![7.06])),
        }
    }

    #[test]
    fn a_row_is_one_line_and_a_missing_side_is_null() {
        let file = tempfile::NamedTempFile::new().unwrap();
        JsonLines::create(Some(file.path())).unwrap().row(&row(), 2).unwrap();
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

    #[test]
    fn the_geometric_mean_has_the_keys_of_a_row_and_is_left_out_unless_all_rows_are_there() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut json = JsonLines::create(Some(file.path())).unwrap();
        let rows = vec![row(); Group::SCHEDULER_ROWS];
        let mut table = Table { procs: 2, cores: 2, tokio: String::new(), go: None, rows };
        json.mean(&table).unwrap();
        table.rows.pop();
        json.mean(&table).unwrap();
        json.row(&row(), 2).unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [mean, row] = &lines[..] else { panic!("{text}") };
        let keys = |line: &serde_json::Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(mean), keys(row));
        assert_eq!((&mean["workload"], &mean["gmp"]), (&"geometric_mean".into(), &20.0.into()));
        assert_eq!((&mean["ratio"], &mean["smol"]), (&row["ratio"], &serde_json::Value::Null));
    }

    #[test]
    fn a_file_that_cannot_be_created_is_named() {
        let error = JsonLines::create(Some("/nowhere/rows.json".as_ref())).unwrap_err().to_string();
        assert!(error.starts_with("cannot write /nowhere/rows.json: "), "{error}");
    }
}
