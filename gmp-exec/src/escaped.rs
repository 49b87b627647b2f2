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

#[cfg(test)]
mod tests {
    use super::Escaped;

    #[test]
    fn control_characters_alone_are_escaped() {
        let text = Escaped("a\nb\r\u{1b}[31m\u{9b}\u{7f}").to_string();
        assert_eq!(text, r"a\nb\r\u{1b}[31m\u{9b}\u{7f}");
        for text in ["", "src/main.rs", "Größe 大小 \"'\\"] {
            assert_eq!(Escaped(text).to_string(), text);
        }
    }
}
