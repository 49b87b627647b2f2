//! What happens to tasks that can never run again.

use proc_macro2::{Ident, Span};

#[derive(Clone, Copy)]
pub(crate) enum Leaks {
    Off,
    Warn,
    Deny,
}

impl Leaks {
    pub(crate) fn from_name(name: &str) -> Option<Leaks> {
        match name {
            "off" => Some(Leaks::Off),
            "warn" => Some(Leaks::Warn),
            "deny" => Some(Leaks::Deny),
            _ => None,
        }
    }

    /// The variant of `runtime::Leaks`.
    pub(crate) fn variant(self, span: Span) -> Ident {
        let name = match self {
            Leaks::Off => "Off",
            Leaks::Warn => "Warn",
            Leaks::Deny => "Deny",
        };
        Ident::new(name, span)
    }
}
