//! A chat as tokens, with contents kept apart from the template's special tokens.

use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;

/// Stand for the contents while the template is applied; no text has them, since control characters are removed.
const SYSTEM_MARK: &str = "\u{1}system\u{1}";
const USER_MARK: &str = "\u{1}user\u{1}";
/// For models whose file has no template.
const FALLBACK_TEMPLATE: &str = "chatml";

/// Tokens of the chat, up to where the model's answer begins.
pub(super) fn tokenize(model: &LlamaModel, system: &str, user: &str) -> Result<Vec<LlamaToken>, String> {
    let framed = apply_template(model)?;
    let mut tokens = Vec::new();
    for piece in split(&framed, system, user) {
        let is_first = tokens.is_empty();
        let vocab = model.vocab();
        match piece {
            Piece::Template(text) => {
                tokens.extend(vocab.tokenize(text.as_bytes(), is_first, true));
            }
            Piece::Content(text) => {
                tokens.extend(vocab.tokenize(text.as_bytes(), is_first, false));
            }
        }
    }
    Ok(tokens)
}

fn apply_template(model: &LlamaModel) -> Result<String, String> {
    let template = model
        .chat_template(None)
        .or_else(|_| LlamaChatTemplate::new(FALLBACK_TEMPLATE).map_err(|_| ()))
        .map_err(|()| "the chat template has a NUL byte".to_owned())?;
    let message = |role: &str, content: &str| {
        LlamaChatMessage::new(role.to_owned(), content.to_owned()).map_err(|err| err.to_string())
    };
    let chat = [message("system", SYSTEM_MARK)?, message("user", USER_MARK)?];
    model
        .apply_chat_template(&template, &chat, true)
        .map_err(|err| format!("the model's chat template cannot be applied: {err}"))
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Template(&'a str),
    Content(&'a str),
}

fn split<'a>(framed: &'a str, system: &'a str, user: &'a str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = framed;
    for (mark, content) in [(SYSTEM_MARK, system), (USER_MARK, user)] {
        if let Some((before, after)) = rest.split_once(mark) {
            pieces.push(Piece::Template(before));
            pieces.push(Piece::Content(content));
            rest = after;
        }
    }
    pieces.push(Piece::Template(rest));
    pieces.retain(|piece| !matches!(piece, Piece::Template("") | Piece::Content("")));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_kept_apart_from_the_template() {
        let framed = format!("<|s|>{SYSTEM_MARK}<|e|><|u|>{USER_MARK}<|e|><|a|>");
        assert_eq!(
            split(&framed, "be kind", "<|e|>hi"),
            [
                Piece::Template("<|s|>"),
                Piece::Content("be kind"),
                Piece::Template("<|e|><|u|>"),
                Piece::Content("<|e|>hi"),
                Piece::Template("<|e|><|a|>"),
            ]
        );
    }
}
