//! The function that an attribute is applied to.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::{AttrStyle, Error, Result, Signature, Visibility, braced};

use crate::flavor::Attribute;

/// A function whose body is not parsed: it may contain syntax that the compiler supports and `syn`
/// doesn't.
pub(crate) struct Function {
    /// The attributes of the function, including those inside of the body (`#![..]`).
    pub(crate) attributes: Vec<syn::Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The body with its braces.
    pub(crate) body: Group,
}

impl Function {
    pub(crate) fn parse(attribute: Attribute, item: TokenStream) -> Result<Function> {
        syn::parse2(item).map_err(|mut error| {
            let message = format!("`#[{}]` is for an `async fn` with a body", attribute.name());
            error.combine(Error::new(Span::call_site(), message));
            error
        })
    }

    pub(crate) fn check(&self, attribute: Attribute) -> Result<()> {
        match attribute {
            _ if self.signature.asyncness.is_none() => Err(Error::new_spanned(
                self.signature.fn_token,
                format!("`#[{}]` needs an `async fn`: the `async` keyword is missing", attribute.name()),
            )),
            Attribute::Main => self.check_arguments(),
            Attribute::Test => self.check_test_attributes(),
        }
    }

    /// Only the program's entry point can't have arguments: no caller passes any.
    fn check_arguments(&self) -> Result<()> {
        if self.signature.ident != "main" || self.signature.inputs.is_empty() {
            return Ok(());
        }
        Err(Error::new_spanned(
            &self.signature.inputs,
            "the `main` function can't have arguments; `std::env::args` has those of the program",
        ))
    }

    fn check_test_attributes(&self) -> Result<()> {
        match self.attributes.iter().find(|attribute| makes_a_test(attribute)) {
            None => Ok(()),
            Some(second) => Err(Error::new_spanned(
                second,
                "a second test attribute: `#[gmp_exec::test]` already makes a test of the function, remove one of the two",
            )),
        }
    }

    /// Each run under a seed passes if it panics, and so this process can't pass by panicking.
    pub(crate) fn check_for_seeds(&self) -> Result<()> {
        match self.attributes.iter().find(|attribute| attribute.path().is_ident("should_panic")) {
            None => Ok(()),
            Some(attribute) => Err(Error::new_spanned(
                attribute,
                "`seeds` is not for tests that should panic: catch the panic in a task, and look at its `JoinError`",
            )),
        }
    }

    /// The span for errors about the value of the body: the end of its last statement.
    pub(crate) fn tail(&self) -> Span {
        match self.body.stream().into_iter().last() {
            Some(token) => token.span(),
            None => self.body.span(),
        }
    }
}

/// Whether the attribute is `test`, by any of the standard library's names, or this crate's own.
fn makes_a_test(attribute: &syn::Attribute) -> bool {
    let names: Vec<String> = attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(names[..], ["test"] | ["core" | "std", "prelude", _, "test"] | ["gmp_exec", "test"])
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Function> {
        let mut attributes = input.call(syn::Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let content;
        let braces = braced!(content in input);

        // The body becomes a block, in which inner attributes aren't allowed.
        for mut attribute in content.call(syn::Attribute::parse_inner)? {
            attribute.style = AttrStyle::Outer;
            attributes.push(attribute);
        }

        let mut body = Group::new(Delimiter::Brace, content.parse::<TokenStream>()?);
        body.set_span(braces.span.join());
        Ok(Function { attributes, visibility, signature, body })
    }
}
