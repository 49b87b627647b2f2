//! Compares the drop-in's public items with tokio's.
//!
//! rustdoc knows all public items, wherever they were re-exported from, their signatures and
//! bounds, the traits that they implement, and the conditions for each auto trait. So both crates
//! are documented, each behind a facade ([`facade`]). The pages are read ([`page`]), every
//! declaration is brought into one form ([`canonical`]), and the forms are compared
//! ([`difference`]). rustdoc's JSON would be easier to read, but it is unstable, and it does not
//! follow re-exports into other crates, of which the drop-in consists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use difference::{Change, Difference};
use facade::Side;

use crate::exceptions::Exceptions;
use crate::round::Round;

mod bounds;
mod canonical;
mod difference;
mod facade;
pub(crate) mod listing;
mod names;
mod page;
mod signature;
mod table;

/// The declarations of each item or part of an item, by name. Several declarations may have one
/// name.
pub(crate) type Api = BTreeMap<String, BTreeSet<String>>;

/// Writes the table. Returns whether all differences are listed exceptions.
pub(crate) fn compare(round: Round, exceptions: &Exceptions) -> Result<bool, String> {
    facade::make(round)?;
    let mut found = BTreeMap::<Difference, Vec<&str>>::new();
    let mut rows = table::Rows::default();
    for &features in round.sets() {
        let tokio = read(&facade::document(Side::Tokio, features, round)?)?;
        let ours = read(&facade::document(Side::Ours, features, round)?)?;
        let differences = difference::find(&tokio, &ours);
        rows.add(features, features == round.features(), &tokio, &differences);
        for difference in differences {
            found.entry(difference).or_default().push(features);
        }
    }
    let path = crate::source::drop_in().join(round.table());
    fs::write(&path, table::text(round, &rows, &found, exceptions))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(is_as_listed(round, &found, exceptions))
}

/// Additions need no exception, because they can't break a program.
fn is_as_listed(round: Round, found: &BTreeMap<Difference, Vec<&str>>, exceptions: &Exceptions) -> bool {
    let mut is_good = true;
    let wanting = found.iter().filter(|(difference, _)| !matches!(difference.change, Change::Added));
    let mut names = BTreeSet::new();
    for (difference, features) in wanting {
        names.insert(&*difference.name);
        if exceptions.api_reason(&difference.name).is_none() {
            println!("{difference}\n  with the features {features:?}");
            is_good = false;
        }
    }
    for name in exceptions.api_items(round).filter(|name| !names.contains(name)) {
        println!("listed, but there is no such difference: {name}");
        is_good = false;
    }
    is_good
}

/// Reads all pages of a crate.
fn read(root: &Path) -> Result<Api, String> {
    let mut api = Api::new();
    read_pages(root, root, &mut api).map_err(|error| format!("{}: {error}", root.display()))?;
    Ok(api)
}

fn read_pages(root: &Path, folder: &Path, api: &mut Api) -> std::io::Result<()> {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(root, &path, api)?;
            continue;
        }
        let page = path.strip_prefix(root).expect("found below the root").to_string_lossy().into_owned();
        if let Some(module) = page.strip_suffix("index.html") {
            api.insert(format!("{module}mod"), BTreeSet::new());
        }
        // The other pages are only lists of items that have pages.
        let Some(item) = page.strip_suffix(".html").filter(|page| page.contains('.') && !page.ends_with('!')) else {
            continue;
        };
        add_page(item, &page::read(&fs::read_to_string(&path)?, &name), api);
    }
    Ok(())
}

fn add_page(item: &str, page: &page::Page, api: &mut Api) {
    let own = page.declaration.iter().flat_map(|text| canonical::item(text));
    let blocks = page.impls.iter().flat_map(|block| canonical::block(&block.header, &block.members));
    for entry in own.chain(blocks).filter(|entry| !is_of_tracing(&entry.name)) {
        let name = if entry.name.is_empty() { item.to_owned() } else { format!("{item}#{}", entry.name) };
        api.entry(name).or_default().insert(entry.text);
    }
}

/// The crate `tracing` implements two traits for all types. They show where a dependency has
/// `tracing`, and say nothing of tokio.
fn is_of_tracing(name: &str) -> bool {
    ["impl Instrument for S0", "impl WithSubscriber for S0"].contains(&name)
}

#[cfg(test)]
mod tests;
