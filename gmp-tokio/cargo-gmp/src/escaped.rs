//! Text of others on the terminal: a trace or a program could forge lines, or hide some by escape
//! sequences.

/// The text with its control characters escaped, as in `\n` and `\u{1b}`.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn control_characters_alone_are_escaped() {
        assert_eq!(escaped("Größe\n\u{1b}[31m \"'\\"), "Größe\\n\\u{1b}[31m \"'\\");
    }
}
