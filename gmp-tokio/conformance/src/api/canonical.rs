//! One way of writing a declaration for all ways that callers can't tell apart.
//!
//! Names of type parameters, lifetimes and arguments don't matter, nor whether a lifetime is left out, where a bound
//! stands (at the parameter, in the method's `where` or in that of the `impl`), and in which order; `async fn` is an `fn`
//! that returns a future. Everything else stays.

use super::names::{Elided, Lifetimes, Names};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, FnArg, GenericParam, Generics, ImplItem, ImplItemFn, Item, ItemImpl, ItemTrait, Lifetime, Meta,
    Receiver, ReceiverKind, ReturnType, Safety, Signature, TraitItem, Type, WherePredicate, parse_quote, parse_str,
};

/// A declaration: what it is called, and all that is declared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) text: String,
}

fn entry(name: impl Into<String>, text: impl Into<String>) -> Entry {
    Entry { name: name.into(), text: one_line(&text.into()) }
}

/// The entries of an item's own declaration: the item, which has no name here, and the members of a trait.
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

/// The entries of an `impl` block: of an inherent one its members, of another the whole, with its associated types.
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

/// Nobody can call `drop`, and everything may have one. Stable code can't name `UnsafeUnpin`, and that a type does *not* have
/// an auto trait is nothing that code can ask for.
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

/// The implementation of a trait, without its bounds and with them.
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
    // A constant, which rustdoc shows without its value.
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
        TraitItem::Type(item) => entry(format!("type {}", item.ident), tokens(item)),
        TraitItem::Const(item) => entry(format!("const {}", item.ident), tokens(item)),
        other => entry(tokens(other), tokens(other)),
    }
}

/// A function, with the parameters and bounds of the `impl` or trait it is in, which have their new names already.
fn function(outer_names: &Names, outer: &Generics, this: &str, mut signature: Signature) -> String {
    let mut names = outer_names.clone();
    names.number(&signature.generics, 'T');
    let mut arguments: Vec<Type> = signature.inputs.iter().map(argument).collect();
    for argument in &mut arguments {
        Elided(|| names.fresh()).visit_type_mut(argument);
    }
    let mut output = output(&signature);
    if let Some(lifetime) = elided_output(&signature, &mut arguments) {
        Elided(|| lifetime.clone()).visit_type_mut(&mut output);
    }
    arguments.iter_mut().for_each(|argument| names.visit_type_mut(argument));
    names.visit_type_mut(&mut output);
    names.visit_generics_mut(&mut signature.generics);
    let receiver = if signature.receiver().is_some() { "self: " } else { "" };
    let qualifiers = qualifiers(&signature);
    let arguments: Vec<String> = arguments.iter().map(tokens).collect();
    format!(
        "{qualifiers} fn {this} {}{}({receiver}{}) -> {}{}",
        signature.ident,
        parameters(&signature.generics),
        arguments.join(", "),
        tokens(&output),
        bounds(&[outer, &signature.generics]),
    )
}

fn qualifiers(signature: &Signature) -> String {
    let safety = if matches!(signature.safety, Safety::Unsafe(_)) { "unsafe" } else { "" };
    format!("{} {safety} {}", tokens(&signature.constness), tokens(&signature.abi))
}

fn argument(argument: &FnArg) -> Type {
    match argument {
        FnArg::Receiver(receiver) => receiver_type(receiver),
        FnArg::Typed(argument) => (*argument.ty).clone(),
    }
}

fn receiver_type(receiver: &Receiver) -> Type {
    match &receiver.kind {
        ReceiverKind::Value => parse_quote!(Self),
        ReceiverKind::Reference(_, lifetime, mutability) => parse_quote!(& #lifetime #mutability Self),
        ReceiverKind::Typed(_, this) => (**this).clone(),
        _ => Type::Verbatim(receiver.to_token_stream()),
    }
}

fn output(signature: &Signature) -> Type {
    let output = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, output) => (**output).clone(),
    };
    match signature.asyncness {
        Some(_) => parse_quote!(impl core::future::future::Future<Output = #output>),
        None => output,
    }
}

/// Which lifetime is left out in what a function returns: the receiver's, or the only one.
fn elided_output(signature: &Signature, arguments: &mut [Type]) -> Option<Lifetime> {
    let mut found = Lifetimes::default();
    match arguments.first_mut() {
        Some(receiver) if signature.receiver().is_some() => {
            found.visit_type_mut(receiver);
            found.0.truncate(1);
        }
        _ => arguments.iter_mut().for_each(|argument| found.visit_type_mut(argument)),
    }
    found.0.pop().filter(|_| found.0.is_empty())
}

/// A struct, an enum, a type alias: with what is public of it.
fn data(mut item: Item) -> String {
    let mut names = Names::default();
    let Some(generics) = generics(&mut item) else { return tokens(&item) };
    names.number(generics, 'T');
    names.visit_generics_mut(generics);
    let bounds = bounds(&[generics]);
    generics.where_clause = None;
    generics.params.iter_mut().for_each(without_bounds);
    names.visit_item_mut(&mut item);
    if let Some(attributes) = attributes(&mut item) {
        attributes.iter_mut().for_each(without_message);
    }
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

fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    match item {
        Item::Struct(item) => Some(&mut item.attrs),
        Item::Enum(item) => Some(&mut item.attrs),
        _ => None,
    }
}

/// What `must_use` says is for people.
fn without_message(attribute: &mut Attribute) {
    if let Meta::NameValue(meta) = &attribute.meta {
        attribute.meta = Meta::Path(meta.path.clone());
    }
}

fn without_bounds(parameter: &mut GenericParam) {
    match parameter {
        GenericParam::Type(parameter) => parameter.bounds.clear(),
        GenericParam::Lifetime(parameter) => parameter.bounds.clear(),
        GenericParam::Const(_) => {}
    }
}

/// What a caller may write between `::<` and `>`.
fn parameters(generics: &Generics) -> String {
    let names = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(tokens(parameter)),
        GenericParam::Lifetime(_) => None,
    });
    format!("<{}>", names.collect::<Vec<_>>().join(", "))
}

/// All bounds, wherever they stand, in one order.
fn bounds(all: &[&Generics]) -> String {
    let mut bounds = BTreeMap::<String, BTreeSet<String>>::new();
    for generics in all {
        for parameter in &generics.params {
            let (name, own): (_, Vec<String>) = match parameter {
                GenericParam::Type(parameter) => {
                    (parameter.ident.to_string(), parameter.bounds.iter().map(tokens).collect())
                }
                GenericParam::Lifetime(parameter) => {
                    (tokens(&parameter.lifetime), parameter.bounds.iter().map(tokens).collect())
                }
                GenericParam::Const(_) => continue,
            };
            bounds.entry(name).or_default().extend(own);
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            let (name, own): (_, Vec<String>) = match predicate {
                WherePredicate::Type(predicate) => (
                    format!("{}{}", tokens(&predicate.lifetimes), tokens(&predicate.bounded_ty)),
                    predicate.bounds.iter().map(tokens).collect(),
                ),
                WherePredicate::Lifetime(predicate) => {
                    (tokens(&predicate.lifetime), predicate.bounds.iter().map(tokens).collect())
                }
                other => (tokens(other), Vec::new()),
            };
            bounds.entry(name).or_default().extend(own);
        }
    }
    let bounds: Vec<String> = bounds
        .into_iter()
        .filter(|(_, own)| !own.is_empty())
        .map(|(name, own)| format!("{name}: {}", own.into_iter().collect::<Vec<_>>().join(" + ")))
        .collect();
    if bounds.is_empty() { String::new() } else { format!(" where {}", bounds.join(", ")) }
}

/// What rustdoc writes for people, as code. Whether hidden fields are named is hidden, too.
fn parse(text: &str) -> syn::Result<Item> {
    const HIDDEN: &str = "/* private fields */";
    let text = text
        .replace(&format!("({HIDDEN});"), &format!("{{ {HIDDEN} }}"))
        .replace(HIDDEN, "hidden: hidden")
        .replace("{ ... }", "{}");
    // A function has no body there.
    parse_str(&text).or_else(|_| parse_str(&format!("{text} {{}}")))
}

/// The last part of each path, and no spaces that nobody would type.
fn short(text: &str) -> String {
    let text = one_line(text).replace(" :: ", "::").replace(" < ", "<").replace(" >", ">").replace(" ,", ",");
    let parts = text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    parts.map(|part| part.rsplit_once("::").map_or(part, |(_, last)| last)).collect()
}

fn tokens(of: &impl ToTokens) -> String {
    of.to_token_stream().to_string()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
