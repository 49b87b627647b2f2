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

/// The name of a source file. A file of a crate that cargo has unpacked or cloned is named from the folder
/// into which cargo has done so, and any other file with a whole path by the folder of its package.
pub(crate) fn short(file: &str) -> Escaped<'_> {
    let in_registry = || file.split_once("/registry/src/")?.1.split_once('/').map(|(_, crate_and_path)| crate_and_path);
    let in_checkout = || file.split_once("/git/checkouts/").map(|(_, repository_and_path)| repository_and_path);
    Escaped(in_registry().or_else(in_checkout).or_else(|| in_package(file)).unwrap_or(file))
}

/// `None`: the name has no whole path, or the package's folder is not known.
fn in_package(file: &str) -> Option<&str> {
    let (package, _) = file.strip_prefix('/')?.rsplit_once("/src/")?;
    let folder = package.rsplit('/').next()?;
    file.get(1 + package.len() - folder.len()..)
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

    /// The packages of gmp that `cargo gmp` carries are built in a folder of the cache.
    #[test]
    fn files_with_whole_paths_are_named_by_the_folders_of_their_packages() {
        let short = |file| short(file).0;
        assert_eq!(short("/home/x/src/shop/src/orders/src/main.rs"), "orders/src/main.rs");
        assert_eq!(short("/shop/src/main.rs"), "shop/src/main.rs");
        assert_eq!(short("/src/main.rs"), "/src/main.rs");
        assert_eq!(short("/home/x/shop/tests/it.rs"), "/home/x/shop/tests/it.rs");
        let cached = "/home/x/.cache/gmp/0123/gmp-tokio/io/../../gmp-io/src/fs/file/write.rs";
        assert_eq!(short(cached), "gmp-io/src/fs/file/write.rs");
        assert_eq!(short("/x/gmp-exec/src/task/mod.rs"), "gmp-exec/src/task/mod.rs");
        assert_eq!(short("gmp-exec/src/task/mod.rs"), "gmp-exec/src/task/mod.rs");
    }

    #[test]
    fn files_of_crates_are_named_by_the_crate() {
        let short = |file| short(file).0;
        assert_eq!(short("/home/x/.cargo/registry/src/index-1949/axum-0.8.9/src/serve.rs"), "axum-0.8.9/src/serve.rs");
        let cloned = "/home/x/.cargo/git/checkouts/axum-3f2a/1234567/src/serve.rs";
        assert_eq!(short(cloned), "axum-3f2a/1234567/src/serve.rs");
        assert_eq!(short("src/main.rs"), "src/main.rs");
    }
}
