//! The text of a trace: a tree of calls, the outermost first.
//!
//! ```text
//! ╼ my::handler::{closure#0} at src/main.rs:18:20
//! └╼ my::store::{closure#0} at src/store.rs:7:9
//!    ├╼ gmp_exec::time::sleep::Sleep::poll at ...
//!    └╼ ...
//! ```

use std::fmt;

use super::backtrace::{Backtrace, BacktraceSymbol};

/// Stacks. Those that begin with the same calls share these calls.
#[derive(Debug, Default)]
pub(super) struct Tree {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    text: String,
    callees: Tree,
}

impl Tree {
    pub(super) fn of(stacks: &[Backtrace]) -> Tree {
        let mut tree = Tree::default();
        for stack in stacks {
            // An inlined function is called by the one that it was inlined into.
            let mut calls: Vec<String> = stack.frames().flat_map(|frame| frame.symbols()).map(text).collect();
            calls.reverse();
            tree.add(calls);
        }
        tree
    }

    /// Adds the calls of one stack, the outermost first.
    fn add(&mut self, calls: Vec<String>) {
        let mut tree = self;
        for text in calls {
            let known = tree.calls.iter().position(|call| call.text == text);
            let index = known.unwrap_or_else(|| {
                tree.calls.push(Call { text, callees: Tree::default() });
                tree.calls.len() - 1
            });
            tree = &mut tree.calls[index].callees;
        }
    }

    /// `before`: what each line begins with.
    fn write(&self, f: &mut fmt::Formatter<'_>, before: &str) -> fmt::Result {
        for (index, call) in self.calls.iter().enumerate() {
            let is_last = index + 1 == self.calls.len();
            let (branch, below) = if is_last { ("└╼ ", "   ") } else { ("├╼ ", "│  ") };
            write!(f, "\n{before}{branch}{}", call.text)?;
            call.callees.write(f, &format!("{before}{below}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, root) in self.calls.iter().enumerate() {
            let line = if index == 0 { "" } else { "\n" };
            write!(f, "{line}╼ {}", root.text)?;
            root.callees.write(f, "")?;
        }
        Ok(())
    }
}

fn text(symbol: &BacktraceSymbol) -> String {
    let mut text = symbol.name_demangled().map_or("(unknown)", without_hash).to_owned();
    if let Some(file) = symbol.filename() {
        text += &format!(" at {}", file.display());
        for number in [symbol.lineno(), symbol.colno()].into_iter().flatten() {
            text += &format!(":{number}");
        }
    }
    text
}

/// A name without the hash that the compiler adds, as in `main::h0123456789abcdef`.
fn without_hash(name: &str) -> &str {
    let is_hash =
        |end: &str| end.len() == 17 && end.starts_with('h') && end[1..].bytes().all(|c| c.is_ascii_hexdigit());
    match name.rsplit_once("::") {
        Some((name, end)) if is_hash(end) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(stacks: &[&[&str]]) -> String {
        let mut tree = Tree::default();
        for stack in stacks {
            tree.add(stack.iter().map(|call| (*call).to_owned()).collect());
        }
        tree.to_string()
    }

    #[test]
    fn stacks_share_what_they_begin_with() {
        let text = tree(&[&["a", "b", "c"], &["a", "b", "d", "e"], &["a", "f"], &["g"]]);
        assert_eq!(text, "╼ a\n├╼ b\n│  ├╼ c\n│  └╼ d\n│     └╼ e\n└╼ f\n╼ g");
        assert_eq!(tree(&[]), "");
    }

    #[test]
    fn hashes_are_left_out() {
        assert_eq!(without_hash("a::b::h0123456789abcdef"), "a::b");
        assert_eq!(without_hash("a::b::hello"), "a::b::hello");
        assert_eq!(without_hash("main"), "main");
    }
}
