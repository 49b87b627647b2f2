//! What a run says of itself: the file of `GMP_SEED_REPORT`.

use std::collections::HashMap;
use std::path::Path;

use tinyjson::JsonValue;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Report {
    /// `ok`, `deadlock`, `limit` or `panic`.
    pub(super) end: String,
    /// Of all decisions and events.
    pub(super) hash: String,
    /// Calls that let the outside in.
    pub(super) outside: Vec<String>,
}

impl Report {
    /// `None`: the run has not said anything. A child process writes its line before the process
    /// that waits for the child.
    pub(super) fn read(path: &Path) -> Option<Report> {
        let text = std::fs::read_to_string(path).ok()?;
        Report::parse(text.lines().last()?)
    }

    fn parse(line: &str) -> Option<Report> {
        let value: JsonValue = line.parse().ok()?;
        let fields: &HashMap<String, JsonValue> = value.get()?;
        let text = |name: &str| fields.get(name)?.get::<String>().cloned();
        let outside: &Vec<JsonValue> = fields.get("outside")?.get()?;
        Some(Report {
            end: text("end")?,
            hash: text("hash")?,
            outside: outside.iter().filter_map(|call| call.get::<String>().cloned()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = |end| {
            format!(
                "{{\"seed\":\"1\",\"end\":\"{end}\",\"decisions\":7,\"hash\":\"0a\",\"virtual_ns\":5,\"outside\":[\"open /a\"]}}\n"
            )
        };
        std::fs::write(file.path(), line("ok") + &line("deadlock")).unwrap();
        let expected = Report { end: "deadlock".into(), hash: "0a".into(), outside: vec!["open /a".into()] };
        assert_eq!(Report::read(file.path()), Some(expected));
        std::fs::write(file.path(), "").unwrap();
        assert_eq!(Report::read(file.path()), None);
    }
}
