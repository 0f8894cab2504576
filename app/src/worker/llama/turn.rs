//! A chat as tokens, with contents kept apart from the template's special tokens.

use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;

/// Stand for the contents while the template is applied; no text has them, since control characters are removed.
const SYSTEM_MARK: &str = "\u{1}system\u{1}";
const USER_MARK: &str = "\u{1}user\u{1}";
/// For models whose own template is missing or not known to llama.cpp.
const FALLBACK_TEMPLATE: &str = "chatml";

/// What a model's chat template puts around the contents.
pub(super) struct ChatFrame {
    /// The template, applied to the marks.
    framed: String,
}

impl ChatFrame {
    /// The frame of a model, and what people should know where it is not the model's own.
    pub(super) fn of(model: &LlamaModel) -> Result<(Self, Option<String>), String> {
        let own = model.chat_template(None).ok();
        let framed = own.as_ref().and_then(|template| apply(model, template).ok());
        if let Some(framed) = framed.filter(|framed| holds_contents(framed)) {
            return Ok((Self { framed }, None));
        }
        let fallback = LlamaChatTemplate::new(FALLBACK_TEMPLATE).map_err(|err| err.to_string())?;
        let framed = apply(model, &fallback)?;
        let why = if own.is_some() { "its chat template is not known to llama.cpp" } else { "it has no chat template" };
        let note =
            format!("the model may answer worse than it could: {why}, so that questions are put to it as ChatML");
        Ok((Self { framed }, Some(note)))
    }

    /// Tokens of the chat, up to where the model's answer begins.
    pub(super) fn tokenize(&self, model: &LlamaModel, system: &str, user: &str) -> Vec<LlamaToken> {
        let mut tokens = Vec::new();
        for piece in split(&self.framed, system, user) {
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
        tokens
    }
}

fn apply(model: &LlamaModel, template: &LlamaChatTemplate) -> Result<String, String> {
    let message = |role: &str, content: &str| {
        LlamaChatMessage::new(role.to_owned(), content.to_owned()).map_err(|err| err.to_string())
    };
    let chat = [message("system", SYSTEM_MARK)?, message("user", USER_MARK)?];
    model
        .apply_chat_template(template, &chat, true)
        .map_err(|err| format!("the chat template cannot be applied: {err}"))
}

/// Whether a template kept both contents, the system's first.
fn holds_contents(framed: &str) -> bool {
    framed.split_once(SYSTEM_MARK).is_some_and(|(_, after)| after.contains(USER_MARK))
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
