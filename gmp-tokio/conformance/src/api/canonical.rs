//! Brings declarations into one form, the same for all spellings that callers can't distinguish.
//!
//! The names of type parameters, lifetimes and arguments don't matter. Nor does it matter whether a
//! lifetime is left out, where a bound stands (at the parameter, in the method's `where` clause or
//! in that of the `impl`), or in which order bounds stand. An `async fn` is an `fn` that returns a
//! future. Everything else stays.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Generics, ImplItem, ImplItemFn, Item, ItemImpl, ItemTrait, TraitItem, parse_str};

use super::bounds::{bounds, parameters};
use super::names::{Elided, Names};
use super::signature::function;

/// A declaration: its name and its whole text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) text: String,
}

fn entry(name: impl Into<String>, text: impl Into<String>) -> Entry {
    Entry { name: name.into(), text: one_line(&text.into()) }
}

/// The entries of an item's own declaration: the item itself, which has no name here, and the
/// members of a trait.
pub(crate) fn item(text: &str) -> Vec<Entry> {
    match parse(text) {
        Ok(Item::Trait(item)) => of_trait(item),
        Ok(Item::Fn(item)) => {
            vec![entry("", function(&Names::default(), &Generics::default(), "", item.sig))]
        }
        Ok(item) => vec![entry("", data(item))],
        Err(_) => vec![entry("", text)],
    }
}

/// The entries of an `impl` block. An inherent block has an entry for each member. Any other block
/// has one entry for the whole block, with its associated types.
pub(crate) fn block(header: &str, members: &[String]) -> Vec<Entry> {
    let Ok(mut block) = parse_str::<ItemImpl>(&format!("{header} {{}}")) else {
        return vec![entry(one_line(header), header)];
    };
    if is_ignored(&block) {
        return Vec::new();
    }
    let names = rename_block(&mut block);
    let members = members.iter().map(|text| member(&block, &names, text));
    if block.trait_.is_none() {
        return members.collect();
    }
    let head = head(&block);
    let members: BTreeSet<String> = members.map(|member| member.text).collect();
    vec![entry(
        head.name,
        format!("{}{}", head.text, members.into_iter().map(|text| format!("; {text}")).collect::<String>()),
    )]
}

/// Callers can't call `drop`, and any type may implement `Drop`. Stable code can't name
/// `UnsafeUnpin`, and can't require that a type does *not* have an auto trait.
fn is_ignored(block: &ItemImpl) -> bool {
    let last = block.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    block.modifiers.polarity.is_some()
        || last.is_some_and(|segment| ["Drop", "UnsafeUnpin"].iter().any(|name| segment.ident == name))
}

fn rename_block(block: &mut ItemImpl) -> Names {
    let mut names = Names::default();
    let types = [block.trait_.as_ref().map(|(path, _)| tokens(path)).unwrap_or_default(), tokens(&block.self_ty)];
    names.number_as_met(&block.generics, &types);
    if let Some((path, _)) = &mut block.trait_ {
        Elided(|| names.fresh()).visit_path_mut(path);
        names.visit_path_mut(path);
    }
    Elided(|| names.fresh()).visit_type_mut(&mut block.self_ty);
    names.visit_type_mut(&mut block.self_ty);
    names.visit_generics_mut(&mut block.generics);
    names
}

/// The implementation of a trait, as the entry's name without its bounds, and as its text with
/// them.
fn head(block: &ItemImpl) -> Entry {
    let path = block.trait_.as_ref().map(|(path, _)| tokens(path)).unwrap_or_default();
    let name = format!("impl {path} for {}", tokens(&block.self_ty));
    entry(short(&name), format!("{name}{}", bounds(&[&block.generics])))
}

fn member(block: &ItemImpl, names: &Names, text: &str) -> Entry {
    if let Ok(method) = parse_str::<ImplItemFn>(&format!("{text} {{}}")) {
        let name = format!("method.{}", method.sig.ident);
        return entry(name, function(names, &block.generics, &tokens(&block.self_ty), method.sig));
    }
    if let Ok(ImplItem::Type(mut item)) = parse_str::<ImplItem>(&format!("{text};")) {
        names.clone().visit_impl_item_type_mut(&mut item);
        return entry(format!("type {}", item.ident), tokens(&item));
    }
    // This is a constant. rustdoc shows constants without their values.
    entry(text.split(':').next().unwrap_or(text), format!("{text} of {}", tokens(&block.self_ty)))
}

fn of_trait(mut item: ItemTrait) -> Vec<Entry> {
    let mut names = Names::default();
    names.number(&item.generics, 'S');
    names.visit_generics_mut(&mut item.generics);
    let mut entries: Vec<Entry> =
        item.items.iter().map(|member| trait_member(&names, &item.generics, member)).collect();
    let supertraits: BTreeSet<String> = item.supertraits.iter().map(tokens).collect();
    let safety = tokens(&item.unsafety);
    entries.push(entry(
        "",
        format!(
            "{safety} trait {}{}: {supertraits:?}{}",
            item.ident,
            parameters(&item.generics),
            bounds(&[&item.generics])
        ),
    ));
    entries
}

fn trait_member(names: &Names, generics: &Generics, member: &TraitItem) -> Entry {
    match member {
        TraitItem::Fn(method) => {
            let kind = if method.default.is_some() { "provided" } else { "required" };
            let text = function(names, generics, "Self", method.sig.clone());
            entry(format!("method.{}", method.sig.ident), format!("{kind} {text}"))
        }
        other => {
            let mut other = other.clone();
            names.clone().visit_trait_item_mut(&mut other);
            let name = match &other {
                TraitItem::Type(item) => format!("type {}", item.ident),
                TraitItem::Const(item) => format!("const {}", item.ident),
                _ => tokens(&other),
            };
            entry(name, tokens(&other))
        }
    }
}

/// A struct, an enum or a type alias, with its public parts.
fn data(mut item: Item) -> String {
    let mut names = Names::default();
    let Some(generics) = generics(&mut item) else { return tokens(&item) };
    names.number(generics, 'T');
    names.visit_generics_mut(generics);
    let bounds = bounds(&[generics]);
    generics.where_clause = None;
    generics.params.iter_mut().for_each(without_bounds);
    names.visit_item_mut(&mut item);
    format!("{}{bounds}", tokens(&item))
}

fn generics(item: &mut Item) -> Option<&mut Generics> {
    match item {
        Item::Struct(item) => Some(&mut item.generics),
        Item::Enum(item) => Some(&mut item.generics),
        Item::Union(item) => Some(&mut item.generics),
        Item::Type(item) => Some(&mut item.generics),
        _ => None,
    }
}

fn without_bounds(parameter: &mut GenericParam) {
    match parameter {
        GenericParam::Type(parameter) => parameter.bounds.clear(),
        GenericParam::Lifetime(parameter) => parameter.bounds.clear(),
        GenericParam::Const(_) => {}
    }
}

/// Turns rustdoc's text into code. Whether hidden fields have names is hidden, too.
fn parse(text: &str) -> syn::Result<Item> {
    const HIDDEN: &str = "/* private fields */";
    let text = text
        .replace(&format!("({HIDDEN});"), &format!("{{ {HIDDEN} }}"))
        .replace(HIDDEN, "hidden: hidden")
        .replace("{ ... }", "{}");
    // rustdoc shows functions without their bodies.
    parse_str(&text).or_else(|_| parse_str(&format!("{text} {{}}")))
}

/// Keeps only the last part of each path, and removes spaces that don't belong in source code.
fn short(text: &str) -> String {
    let text = one_line(text).replace(" :: ", "::").replace(" < ", "<").replace(" >", ">").replace(" ,", ",");
    let parts = text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    parts.map(|part| part.rsplit_once("::").map_or(part, |(_, last)| last)).collect()
}

/// The code as text, with uniform spaces.
pub(crate) fn tokens(of: &impl ToTokens) -> String {
    of.to_token_stream().to_string()
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
