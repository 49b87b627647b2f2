//! Brings a function's signature into one form.

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, Generics, Lifetime, Receiver, ReceiverKind, ReturnType, Safety, Signature, Type, TypeParamBound, parse_quote,
};

use super::bounds::{bounds, parameters};
use super::canonical::tokens;
use super::names::{Elided, Lifetimes, Names};

/// A function, with the parameters and bounds of its `impl` or trait, which have been renamed
/// already.
pub(crate) fn function(outer_names: &Names, outer: &Generics, this: &str, mut signature: Signature) -> String {
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
        None => without_captures(output),
    }
}

/// An `async fn` captures all its parameters, and a function that returns a future has to say so.
fn without_captures(mut output: Type) -> Type {
    if let Type::ImplTrait(future) = &mut output {
        let bounds = std::mem::take(&mut future.bounds);
        future.bounds =
            bounds.into_iter().filter(|bound| !matches!(bound, TypeParamBound::PreciseCapture(_))).collect();
    }
    output
}

/// The lifetime that is left out in a function's return type: the receiver's, or the only one.
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
