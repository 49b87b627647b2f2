//! The two attributes, and the kinds of runtimes that they make.

use proc_macro2::{Ident, Span};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    Main,
    Test,
}

impl Attribute {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Attribute::Main => "gmp_exec::main",
            Attribute::Test => "gmp_exec::test",
        }
    }

    pub(crate) fn default_flavor(self) -> Flavor {
        match self {
            Attribute::Main => Flavor::MultiThread,
            Attribute::Test => Flavor::CurrentThread,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavor {
    MultiThread,
    CurrentThread,
}

impl Flavor {
    pub(crate) fn from_name(name: &str) -> Option<Flavor> {
        match name {
            "multi_thread" => Some(Flavor::MultiThread),
            "current_thread" => Some(Flavor::CurrentThread),
            _ => None,
        }
    }

    /// The function of `runtime::Builder` that makes a builder for this flavour.
    pub(crate) fn constructor(self, span: Span) -> Ident {
        let name = match self {
            Flavor::MultiThread => "new_multi_thread",
            Flavor::CurrentThread => "new_current_thread",
        };
        Ident::new(name, span)
    }
}
