//! Lists the public items of gmp-exec and gmp-io, each in a committed file: `public-api.txt`.
//!
//! A change of the API changes that file, where a reviewer sees it. The lines are rustdoc's
//! declarations, with the full path of each type, so that no unstable option of rustdoc is needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use syn::{GenericParam, ItemImpl, parse_str};

use super::canonical::{one_line, tokens};
use super::page;
use crate::source::drop_in;

/// The packages, which are also folders of the repository.
const PACKAGES: [&str; 2] = ["gmp-exec", "gmp-io"];

const HEAD: &str = "# The public API, written by `cargo run -p gmp-conformance -- listing --update`.\n";

/// Compares the listings with the committed ones, or writes them. Returns whether they agree.
pub(crate) fn check(update: bool) -> Result<bool, String> {
    let pages = document()?;
    let mut is_good = true;
    for package in PACKAGES {
        let lines = lines(&pages.join(package.replace('-', "_")))?;
        let file = top().join(package).join("public-api.txt");
        if update {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            fs::write(&file, format!("{HEAD}\n{text}")).map_err(|error| format!("{}: {error}", file.display()))?;
        } else {
            is_good &= agrees(package, &committed(&file)?, &lines);
        }
    }
    Ok(is_good)
}

fn top() -> PathBuf {
    drop_in().join("..")
}

/// Documents the packages. Returns a folder with one folder of pages for each crate.
fn document() -> Result<PathBuf, String> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| top().join("target"), PathBuf::from);
    let target = target.join("public-api");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(top()).args(["doc", "--quiet", "--no-deps", "--all-features"]);
    cargo.args(PACKAGES.map(|package| format!("--package={package}")));
    let status = cargo.env("CARGO_TARGET_DIR", &target).status().map_err(|error| format!("cargo doc: {error}"))?;
    if !status.success() {
        return Err("gmp-exec and gmp-io can't be documented".to_owned());
    }
    Ok(target.join("doc"))
}

/// All declarations of a crate, each after the name of its page.
fn lines(root: &Path) -> Result<BTreeSet<String>, String> {
    let read = |page: &str| {
        let path = root.join(page);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut lines = BTreeSet::new();
    // Reads only the pages in rustdoc's list, because rustdoc does not delete the pages of removed
    // items.
    let items = page::items(&read("all.html")?);
    let folders = items.iter().map(|item| item.rsplit_once('/').map_or("", |(folder, _)| folder));
    for folder in folders.collect::<BTreeSet<&str>>() {
        let index = Path::new(folder).join("index.html");
        let exports = page::re_exports(&read(&index.to_string_lossy())?);
        lines.extend(exports.iter().map(|text| line(folder, text)));
    }
    for item in &items {
        let page = page::read(&read(item)?, "");
        let name = item.trim_end_matches(".html");
        lines.extend(declarations(&page).iter().map(|text| line(name, text)));
    }
    Ok(lines)
}

fn line(place: &str, declaration: &str) -> String {
    format!("{place}: {}", one_line(declaration))
}

fn declarations(page: &page::Page) -> Vec<String> {
    let mut declarations: Vec<String> = page.declaration.clone().into_iter().collect();
    for block in page.impls.iter().filter(|block| !is_left_out(&block.header)) {
        let members = block.members.iter().map(|member| format!("{} {{ {member} }}", block.header));
        declarations.extend(members);
        if block.members.is_empty() {
            declarations.push(block.header.clone());
        }
    }
    declarations
}

/// Whether this is an implementation for all types, such as `impl<T> Any for T` in another crate,
/// or an implementation of a trait that stable code can't name.
fn is_left_out(header: &str) -> bool {
    let Ok(block) = parse_str::<ItemImpl>(&format!("{header} {{}}")) else { return false };
    let this = tokens(&block.self_ty);
    let implemented = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    implemented.is_some_and(|last| last.ident == "Freeze" || last.ident == "UnsafeUnpin")
        || block.generics.params.iter().any(|parameter| matches!(parameter, GenericParam::Type(it) if it.ident == this))
}

fn committed(file: &Path) -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(str::to_owned).collect())
}

fn agrees(package: &str, committed: &BTreeSet<String>, found: &BTreeSet<String>) -> bool {
    committed.difference(found).for_each(|line| println!("no more in {package}: {line}"));
    found.difference(committed).for_each(|line| println!("new in {package}: {line}"));
    if committed != found {
        println!("if that is meant, `cargo run -p gmp-conformance -- listing --update` writes it down");
    }
    committed == found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implementations_for_all_types_and_of_unstable_traits_are_left_out() {
        assert!(is_left_out("impl core::marker::Freeze for gmp_exec::task::Id"));
        assert!(is_left_out("impl<T> core::any::Any for T where T: 'static + ?Sized"));
        assert!(!is_left_out("impl<T> core::fmt::Debug for gmp_exec::time::Timeout<T>"));
        assert!(!is_left_out("impl core::marker::Send for gmp_exec::runtime::Handle"));
    }

    #[test]
    fn a_changed_signature_is_seen() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let committed = lines("fn.spawn: pub fn spawn(a: u8)\nfn.block: pub fn block()");
        assert!(agrees("gmp-exec", &committed, &committed));
        assert!(!agrees("gmp-exec", &committed, &lines("fn.spawn: pub fn spawn(a: u16)\nfn.block: pub fn block()")));
        assert!(!agrees("gmp-exec", &committed, &lines("fn.block: pub fn block()")));
    }
}
