//! Names that come from outside, in text for people.
//!
//! A file may have any name. One with a line break would add a line to a report, and one with an
//! escape sequence could make a terminal hide lines.

use std::fmt::{self, Write};

/// The text with its control characters escaped, as in `\n` and `\u{1b}`. All others, also those
/// of other scripts, stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .chars()
            .try_for_each(|c| if c.is_control() { write!(f, "{}", c.escape_default()) } else { f.write_char(c) })
    }
}

/// The name of a source file. A file of a published crate is named by the crate, without the folder
/// into which cargo has unpacked the crate, and one of gmp by gmp's crate.
pub(crate) fn short(file: &str) -> Escaped<'_> {
    let in_registry = file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    let of_gmp = || ["/gmp-io/src/", "/gmp-exec/src/"].into_iter().find_map(|part| file.rfind(part));
    let in_gmp = || of_gmp().map_or(file, |at| &file[at + 1..]);
    Escaped(in_registry.map_or_else(in_gmp, |(_, crate_and_path)| crate_and_path))
}

#[cfg(test)]
mod tests {
    use super::{Escaped, short};

    #[test]
    fn control_characters_alone_are_escaped() {
        let text = Escaped("a\nb\r\u{1b}[31m\u{9b}\u{7f}").to_string();
        assert_eq!(text, r"a\nb\r\u{1b}[31m\u{9b}\u{7f}");
        for text in ["", "src/main.rs", "Größe 大小 \"'\\"] {
            assert_eq!(Escaped(text).to_string(), text);
        }
    }

    /// Those that `cargo gmp` carries are built in a folder of the cache.
    #[test]
    fn files_of_gmp_are_named_by_its_crates() {
        let short = |file| short(file).0;
        let cached = "/home/x/.cache/gmp/0123/gmp-tokio/io/../../gmp-io/src/fs/file/write.rs";
        assert_eq!(short(cached), "gmp-io/src/fs/file/write.rs");
        assert_eq!(short("/x/gmp-exec/src/task/mod.rs"), "gmp-exec/src/task/mod.rs");
        assert_eq!(short("gmp-exec/src/task/mod.rs"), "gmp-exec/src/task/mod.rs");
    }

    #[test]
    fn files_of_published_crates_are_named_by_the_crate() {
        let short = |file| short(file).0;
        assert_eq!(short("/home/x/.cargo/registry/src/index-1949/axum-0.8.9/src/serve.rs"), "axum-0.8.9/src/serve.rs");
        assert_eq!(short("src/main.rs"), "src/main.rs");
        assert_eq!(short("/registry/src/main.rs"), "/registry/src/main.rs");
    }
}
