//! Renames type parameters and lifetimes, whose names callers don't see.

use std::collections::{HashMap, HashSet};

use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, GenericParam, Generics, Ident, Lifetime, ParenthesizedGenericArguments, Path, TypeFnPtr, TypeReference,
};

/// The new names. Type parameters and constants are numbered, and so are lifetimes, in the order of
/// their first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    parameters: HashMap<String, String>,
    lifetimes: HashMap<String, String>,
    /// Lifetimes that get a name at their first use. Other lifetimes belong to a `for<'a>`, or are
    /// `'static`.
    declared: HashSet<String>,
}

impl Names {
    /// Numbers the parameters of a declaration. Callers see their order, because they write
    /// `::<T, U>`.
    pub(crate) fn number(&mut self, generics: &Generics, letter: char) {
        for (number, name) in generics.params.iter().filter_map(parameter).enumerate() {
            self.parameters.insert(name.to_string(), format!("{letter}{number}"));
        }
        self.declare_lifetimes(generics);
    }

    /// Numbers the parameters of an `impl` in the order of their use in its types, because callers
    /// don't see the order of their declaration.
    pub(crate) fn number_as_met(&mut self, generics: &Generics, types: &[String]) {
        let words: Vec<&str> =
            types.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
        let mut parameters: Vec<&Ident> = generics.params.iter().filter_map(parameter).collect();
        parameters.sort_by_key(|name| words.iter().position(|word| *name == word).unwrap_or(usize::MAX));
        for (number, name) in parameters.into_iter().enumerate() {
            self.parameters.insert(name.to_string(), format!("S{number}"));
        }
        self.declare_lifetimes(generics);
    }

    fn declare_lifetimes(&mut self, generics: &Generics) {
        self.declared.extend(generics.lifetimes().map(|parameter| parameter.lifetime.ident.to_string()));
    }

    /// A new name for a lifetime that has none in the source.
    pub(crate) fn fresh(&mut self) -> Lifetime {
        let name = format!("'fresh{}", self.declared.len());
        self.declared.insert(name[1..].to_owned());
        Lifetime::new(&name, proc_macro2::Span::call_site())
    }

    fn rename(&self, name: &mut Ident) {
        if let Some(new) = self.parameters.get(&name.to_string()) {
            *name = Ident::new(new, name.span());
        }
    }
}

fn parameter(parameter: &GenericParam) -> Option<&Ident> {
    match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) => None,
    }
}

impl VisitMut for Names {
    fn visit_path_mut(&mut self, path: &mut Path) {
        if let Some(first) = path.segments.first_mut().filter(|_| path.leading_colon.is_none()) {
            self.rename(&mut first.ident);
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_generic_param_mut(&mut self, parameter: &mut GenericParam) {
        match parameter {
            GenericParam::Type(parameter) => self.rename(&mut parameter.ident),
            GenericParam::Const(parameter) => self.rename(&mut parameter.ident),
            GenericParam::Lifetime(_) => {}
        }
        visit_mut::visit_generic_param_mut(self, parameter);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        let old = lifetime.ident.to_string();
        if !self.declared.contains(&old) {
            return;
        }
        let number = self.lifetimes.len();
        let new = self.lifetimes.entry(old).or_insert_with(|| format!("l{number}"));
        lifetime.ident = Ident::new(new, lifetime.ident.span());
    }

    fn visit_expr_mut(&mut self, _: &mut Expr) {}
}

/// Names the lifetimes that were left out or are `'_`.
#[derive(Debug)]
pub(crate) struct Elided<F>(pub(crate) F);

impl<F: FnMut() -> Lifetime> VisitMut for Elided<F> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some((self.0)());
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = (self.0)();
        }
    }

    // The lifetimes of a function type belong to that type.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
}

/// Collects all lifetimes, in order.
#[derive(Debug, Default)]
pub(crate) struct Lifetimes(pub(crate) Vec<Lifetime>);

impl VisitMut for Lifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if !self.0.contains(lifetime) {
            self.0.push(lifetime.clone());
        }
    }
}
