//! Which target of a package a program is. Two targets may have tests of the same name, and a program's
//! file is named alike for a library and for a binary or a test of the same name. So cargo is asked.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use tinyjson::JsonValue;

/// Makes cargo tell, besides what it says.
pub(super) const OPTION: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// Targets by the names of their programs' files.
#[derive(Debug, Default)]
pub(super) struct Targets(HashMap<OsString, String>);

impl Targets {
    /// Cargo's messages are a line of JSON each.
    pub(super) fn read(messages: &str) -> Targets {
        Targets(messages.lines().filter_map(target).collect())
    }

    /// In nextest's words: `it` for a test, `bin/tool` for a binary, and nothing for the library.
    pub(super) fn of(&self, program: &Path) -> &str {
        program.file_name().and_then(|file| self.0.get(file)).map_or("", String::as_str)
    }
}

fn target(line: &str) -> Option<(OsString, String)> {
    let message: JsonValue = line.parse().ok()?;
    let field = |value: &JsonValue, name: &str| value.get::<HashMap<_, _>>()?.get(name).cloned();
    let text = |value: &JsonValue, name: &str| field(value, name)?.get::<String>().cloned();
    let program = text(&message, "executable")?;
    let target = field(&message, "target")?;
    let name = text(&target, "name")?;
    let kind = field(&target, "kind")?.get::<Vec<JsonValue>>()?.first()?.get::<String>()?.clone();
    let target = match kind.as_str() {
        "test" => name,
        "bin" | "example" => format!("{kind}/{name}"),
        _ => String::new(),
    };
    Some((Path::new(&program).file_name()?.to_owned(), target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_apart() {
        let line = |kind, file| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"a-b"}},"executable":"/deps/{file}"}}"#
            )
        };
        let lines = [line("lib", "a_b-1"), line("bin", "a_b-2"), line("test", "a_b-3"), "text".to_owned()];
        let targets = Targets::read(&lines.join("\n"));
        let of = |file| targets.of(Path::new(file));
        assert_eq!([of("/x/a_b-1"), of("/x/a_b-2"), of("/x/a_b-3"), of("a_b-4")], ["", "bin/a-b", "a-b", ""]);
    }
}
