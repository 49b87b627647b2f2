//! Brings parameters and their bounds into one form.

use std::collections::{BTreeMap, BTreeSet};

use syn::{GenericParam, Generics, WherePredicate};

use super::canonical::tokens;

/// The parameters that a caller may write between `::<` and `>`.
pub(crate) fn parameters(generics: &Generics) -> String {
    let names = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(tokens(parameter)),
        GenericParam::Lifetime(_) => None,
    });
    format!("<{}>", names.collect::<Vec<_>>().join(", "))
}

/// All bounds of several declarations, in one order, wherever the source has them.
pub(crate) fn bounds(all: &[&Generics]) -> String {
    let mut bounds = BTreeMap::<String, BTreeSet<String>>::new();
    for generics in all {
        let own = generics.params.iter().filter_map(of_parameter);
        let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates).map(of_predicate);
        for (name, own) in own.chain(predicates) {
            bounds.entry(name).or_default().extend(own);
        }
    }
    let join = |own: BTreeSet<String>| own.into_iter().collect::<Vec<_>>().join(" + ");
    let bounds: Vec<String> = bounds
        .into_iter()
        .filter(|(_, own)| !own.is_empty())
        .map(|(name, own)| format!("{name}: {}", join(own)))
        .collect();
    if bounds.is_empty() { String::new() } else { format!(" where {}", bounds.join(", ")) }
}

fn of_parameter(parameter: &GenericParam) -> Option<(String, Vec<String>)> {
    match parameter {
        GenericParam::Type(parameter) => {
            Some((parameter.ident.to_string(), parameter.bounds.iter().map(tokens).collect()))
        }
        GenericParam::Lifetime(parameter) => {
            Some((tokens(&parameter.lifetime), parameter.bounds.iter().map(tokens).collect()))
        }
        GenericParam::Const(_) => None,
    }
}

fn of_predicate(predicate: &WherePredicate) -> (String, Vec<String>) {
    match predicate {
        WherePredicate::Type(predicate) => (
            format!("{}{}", tokens(&predicate.lifetimes), tokens(&predicate.bounded_ty)),
            predicate.bounds.iter().map(tokens).collect(),
        ),
        WherePredicate::Lifetime(predicate) => {
            (tokens(&predicate.lifetime), predicate.bounds.iter().map(tokens).collect())
        }
        // There are no other kinds yet. A new kind is kept as it is, so that no bound is lost.
        other => (tokens(other), vec![tokens(other)]),
    }
}
