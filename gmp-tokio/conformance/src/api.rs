//! tokio's public items against the drop-in's.
//!
//! rustdoc knows what is public, wherever it was re-exported from, and which methods and impls it has. So both crates are
//! documented and the pages compared: an item is a page, and everything on it that has a place of its own has an `id`.
//! Its JSON would say the same, but needs a nightly compiler.

use crate::exceptions::Exceptions;
use crate::package;
use crate::source::drop_in;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages, and what is on them.
type Api = BTreeMap<String, BTreeSet<String>>;

const FEATURES: &str = "full,test-util";

/// Writes the table. Returns whether nothing is missing that is not listed.
pub(crate) fn compare(exceptions: &Exceptions) -> Result<bool, String> {
    let tokio = document(&real_tokio()?)?;
    let ours = document(&drop_in().join("conformance/work"))?;
    let missing: BTreeSet<String> = items(&tokio).difference(&items(&ours)).cloned().collect();
    let mut is_good = true;
    for item in &missing {
        if !exceptions.is_api(item) {
            println!("missing: {item}");
            is_good = false;
        }
    }
    for item in exceptions.api_items().filter(|item| !missing.contains(*item)) {
        println!("listed as missing, but there: {item}");
        is_good = false;
    }
    let table = table(&tokio, &missing, exceptions);
    let path = drop_in().join("API.md");
    fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{} public items of tokio's, {} of them missing", items(&tokio).len(), missing.len());
    Ok(is_good)
}

/// A package that depends on the registry's tokio.
fn real_tokio() -> Result<PathBuf, String> {
    let folder = drop_in().join("conformance/work/real");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"real\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies.tokio]\n\
         version = \"={}\"\nfeatures = [{}]\n",
        crate::source::VERSION,
        FEATURES.split(',').map(|feature| format!("\"{feature}\"")).collect::<Vec<_>>().join(", ")
    );
    let write = || {
        fs::create_dir_all(folder.join("src"))?;
        package::write_changed(&folder.join("src/lib.rs"), "")?;
        package::write_changed(&folder.join("Cargo.toml"), &manifest)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Documents the `tokio` of a package and reads the pages.
fn document(folder: &Path) -> Result<Api, String> {
    let target = crate::compile::target_folder(folder).join("api").join(folder.file_name().unwrap_or_default());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).args(["doc", "--no-deps", "-p", "tokio"]).env("CARGO_TARGET_DIR", &target);
    if !folder.ends_with("real") {
        cargo.args(["--features", FEATURES]);
    }
    let status = cargo.env("RUSTDOCFLAGS", "-A warnings").status().map_err(|error| format!("cargo doc: {error}"))?;
    if !status.success() {
        return Err("cargo doc fails".to_owned());
    }
    let mut api = Api::new();
    let root = target.join("doc/tokio");
    read_pages(&root, &root, &mut api).map_err(|error| format!("{}: {error}", root.display()))?;
    Ok(api)
}

fn read_pages(root: &Path, folder: &Path, api: &mut Api) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(root, &path, api)?;
            continue;
        }
        let page = path.strip_prefix(root).expect("found below the root").to_string_lossy().into_owned();
        let Some(item) = page.strip_suffix(".html").filter(|page| page.contains('.') && !page.ends_with('!')) else {
            continue; // A list of others.
        };
        let text = fs::read_to_string(&path)?;
        if !text.contains("http-equiv=\"refresh\"") {
            api.insert(item.to_owned(), ids(&text));
        }
    }
    Ok(())
}

/// Kinds of places on a page. An auto trait is one, too: rustdoc lists what a type is and is not.
const KINDS: [&str; 6] = ["method.", "tymethod.", "variant.", "structfield.", "associatedconstant.", "impl-"];

fn ids(page: &str) -> BTreeSet<String> {
    let ids = page.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    ids.filter(|id| KINDS.iter().any(|kind| id.starts_with(kind)) && !is_destructor(id)).map(plain).collect()
}

/// Nobody can call one, and everything may have one.
fn is_destructor(id: &str) -> bool {
    id == "method.drop" || id.starts_with("impl-Drop-for-")
}

/// Without generics, which are named differently, and without the number of a repetition.
fn plain(id: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0usize;
    let mut rest = id;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("%3C") {
            (depth, rest) = (depth + 1, after);
        } else if let Some(after) = rest.strip_prefix("%3E") {
            (depth, rest) = (depth.saturating_sub(1), after);
        } else {
            if depth == 0 {
                plain.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    match plain.rsplit_once('-') {
        Some((name, number)) if number.chars().all(|digit| digit.is_ascii_digit()) => name.to_owned(),
        _ => plain,
    }
}

fn items(api: &Api) -> BTreeSet<String> {
    let on_page = |(page, ids): (&String, &BTreeSet<String>)| {
        let places: Vec<String> = ids.iter().map(|id| format!("{page}#{id}")).collect();
        std::iter::once(page.clone()).chain(places)
    };
    api.iter().flat_map(on_page).collect()
}

fn table(tokio: &Api, missing: &BTreeSet<String>, exceptions: &Exceptions) -> String {
    let mut modules = BTreeMap::<&str, [usize; 4]>::new();
    for (page, ids) in tokio {
        let module = page.rsplit_once('/').map_or("(top)", |(module, _)| module);
        let counts = modules.entry(module).or_default();
        counts[0] += 1;
        counts[1] += usize::from(!missing.contains(page));
        counts[2] += ids.len();
        counts[3] += ids.iter().filter(|id| !missing.contains(&format!("{page}#{id}"))).count();
    }
    let mut text = String::from(HEAD);
    for (module, [pages, ours, places, ours_of_places]) in modules {
        let _ = writeln!(text, "| {module} | {pages} | {ours} | {places} | {ours_of_places} |");
    }
    text.push_str("\n## Missing\n\n");
    for item in missing {
        let _ = writeln!(text, "- `{item}`: {}", exceptions.api_reason(item).unwrap_or("NOT LISTED"));
    }
    text
}

const HEAD: &str = "# tokio's public items against the drop-in's\n\nWritten by `gmp-conformance api`, from rustdoc's \
                    pages of both with the features `full` and `test-util`. Items are types, traits, functions and \
                    macros; details are methods, variants, fields, and impls, auto traits included.\n\n\
                    | module | items | ours | details | ours |\n|---|---|---|---|---|\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lose_generics_and_numbers() {
        assert_eq!(plain("impl-From%3CFile%3E-for-Vec%3CBox%3CT%3E%3E"), "impl-From-for-Vec");
        assert_eq!(plain("method.poll-2"), "method.poll");
        assert_eq!(plain("method.new_v4"), "method.new_v4");
    }

    #[test]
    fn a_page_is_what_can_be_used_of_it() {
        let page =
            r#"<a id="method.spawn"></a><b id="fields"></b><b id="method.drop"></b><b id="impl-Send-for-X"></b>"#;
        let expected = ["impl-Send-for-X", "method.spawn"].map(str::to_owned);
        assert_eq!(ids(page), BTreeSet::from(expected));
    }
}
