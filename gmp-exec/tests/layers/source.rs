//! A file of the crate, without comments and tests.

use std::fs;
use std::path::Path;

pub(crate) struct Source {
    /// Below `src`, with slashes.
    pub(crate) path: String,
    /// The module path in the crate, such as `sched::state::idle`.
    pub(crate) module: String,
    pub(crate) code: String,
    /// The paths below `crate` that the code names.
    pub(crate) names: Vec<String>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Source {
        let code: Vec<&str> = text.lines().take_while(|line| !begins_tests(line)).map(without_comment).collect();
        // A visibility names a module without depending on it.
        let code = code.join("\n").replace("pub(in crate::", "pub(in ");
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let names = code.split("crate::").skip(1).flat_map(paths).collect();
        Source { path: path.to_owned(), module, code, names }
    }

    /// All files below `root` that are part of the product.
    pub(crate) fn read_all(root: &Path) -> Vec<Source> {
        let mut found = Vec::new();
        collect(root, root, &mut found);
        assert!(found.len() > 50, "the sources are where they should be");
        found
    }
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate can be read") {
        let path = entry.expect("a folder of the crate can be read").path();
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        if is_for_tests(&name) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, found);
        } else if name.ends_with(".rs") {
            found.push(Source::new(&name, &fs::read_to_string(&path).expect("a source is text")));
        }
    }
}

fn is_for_tests(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    ["tests", "tests.rs", "bench"].contains(&file) || file.starts_with("loom_") || file.starts_with("shuttle_")
}

fn begins_tests(line: &str) -> bool {
    line.starts_with("#[cfg(") && line.contains("test")
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// The paths that begin with `rest`: one, or one for each name in braces.
fn paths(rest: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let (path, after) = rest.split_at(end);
    match after.strip_prefix('{').and_then(|list| list.split_once('}')) {
        Some((list, _)) => list.split(',').map(|name| format!("{path}{}", name.trim())).collect(),
        None => vec![path.trim_end_matches(':').to_owned()],
    }
}
