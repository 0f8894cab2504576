//! Which language a text is written in, by its file's name or by its own look.

use std::path::Path;

/// A language whose grammar is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Bash,
    C,
    CSharp,
    Cpp,
    Go,
    Java,
    JavaScript,
    Php,
    Python,
    Rust,
    TypeScript,
    Tsx,
}

impl Language {
    /// By the ending of `name`; without a name by the first line and by words that other languages do not have.
    pub(super) fn of(name: Option<&str>, text: &str) -> Option<Self> {
        match name.map(Path::new).and_then(Path::extension).and_then(|ending| ending.to_str()) {
            Some(ending) => Self::by_ending(&ending.to_lowercase()),
            None => Self::by_first_line(text).or_else(|| Self::by_look(text)),
        }
    }

    fn by_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "sh" | "bash" | "zsh" => Self::Bash,
            "c" | "h" => Self::C,
            "cs" => Self::CSharp,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "cu" => Self::Cpp,
            "go" => Self::Go,
            "java" => Self::Java,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "php" => Self::Php,
            "py" | "pyi" => Self::Python,
            "rs" => Self::Rust,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            _ => return None,
        })
    }

    fn by_first_line(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        if first.starts_with("<?php") {
            return Some(Self::Php);
        }
        let program = first.strip_prefix("#!")?;
        [("python", Self::Python), ("node", Self::JavaScript), ("bash", Self::Bash), ("/sh", Self::Bash)]
            .into_iter()
            .find_map(|(name, language)| program.contains(name).then_some(language))
    }

    /// The language most of whose tell-tale line starts occur; none if fewer than three lines have one.
    fn by_look(text: &str) -> Option<Self> {
        let lines = || text.lines().take(LOOKED_AT_LINES).map(str::trim_start);
        let count = |marks: &[&str]| lines().filter(|line| marks.iter().any(|mark| line.starts_with(mark))).count();
        let best =
            TELLTALES.iter().map(|(language, marks)| (count(marks), *language)).max_by_key(|(count, _)| *count)?;
        (best.0 >= 3).then_some(best.1)
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE,
            Self::C => tree_sitter_c::LANGUAGE,
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE,
            Self::Cpp => tree_sitter_cpp::LANGUAGE,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::JavaScript => tree_sitter_javascript::LANGUAGE,
            Self::Php => tree_sitter_php::LANGUAGE_PHP,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        }
        .into()
    }
}

/// Lines that are looked at where there is no name.
const LOOKED_AT_LINES: usize = 400;

/// How lines of a language start, and lines of the others do not.
const TELLTALES: &[(Language, &[&str])] = &[
    (Language::C, &["#include <", "typedef ", "static int ", "#define "]),
    (Language::Cpp, &["namespace ", "template <", "template<", "std::", "#include <"]),
    (Language::CSharp, &["using System", "namespace ", "public class ", "public async "]),
    (Language::Go, &["package main", "func ", "import (", "defer ", "if err != nil"]),
    (Language::Java, &["import java", "public class ", "@Override", "private final ", "package com."]),
    (Language::JavaScript, &["const ", "function ", "module.exports", "export default "]),
    (Language::Python, &["def ", "from ", "import ", "elif ", "self."]),
    (Language::Rust, &["fn ", "pub fn ", "impl ", "use crate", "let mut ", "pub(crate) "]),
    (Language::TypeScript, &["interface ", "export type ", "export interface ", "import {"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_first_then_the_look() {
        let rust = "use crate::a;\nfn a() {}\npub fn b() {}\nimpl C {}\n";
        assert_eq!(Language::of(Some("a.PY"), rust), Some(Language::Python));
        assert_eq!(Language::of(Some("notes.txt"), rust), None);
        assert_eq!(Language::of(None, rust), Some(Language::Rust));
        assert_eq!(Language::of(None, "#!/usr/bin/env python3\n"), Some(Language::Python));
        assert_eq!(Language::of(None, "A river carries sand.\nfn is a word.\n"), None);
        assert_eq!(Language::of(None, ""), None);
    }

    #[test]
    fn every_grammar_loads() {
        use Language::{Bash, C, CSharp, Cpp, Go, Java, JavaScript, Php, Python, Rust, Tsx, TypeScript};
        for language in [Bash, C, CSharp, Cpp, Go, Java, JavaScript, Php, Python, Rust, TypeScript, Tsx] {
            let mut parser = tree_sitter::Parser::new();
            assert!(parser.set_language(&language.grammar()).is_ok(), "{language:?}");
        }
    }
}
