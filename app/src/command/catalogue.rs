//! The commands that the palette lists, each with its shortcut where it has one.

use super::Command;
use super::shortcut::{KeyName, Shortcut};
use crate::answer::Answer;
use crate::state::{AppState, Space, StatusFilter, ThemeChoice};

/// A command as the palette shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it does, in a few words.
    pub title: String,
    /// Its shortcut.
    pub shortcut: Option<Shortcut>,
    /// The command.
    pub command: Command,
}

impl Entry {
    fn new(title: impl Into<String>, command: Command) -> Self {
        Self { title: title.into(), shortcut: None, command }
    }

    fn with(mut self, shortcut: Shortcut) -> Self {
        self.shortcut = Some(shortcut);
        self
    }
}

/// Every command that makes sense in `state`.
pub fn entries(state: &AppState) -> Vec<Entry> {
    let mut entries = go_to();
    entries.extend(documents(state));
    entries.extend(lab(state));
    entries.extend(chat(state));
    entries.extend(models());
    entries.extend(preferences());
    entries
}

fn go_to() -> Vec<Entry> {
    let digits = ['1', '2', '3', '4', '5', '6', '7'];
    let spaces = Space::ALL.iter().zip(digits).map(|(space, digit)| {
        Entry::new(format!("Go to {}", space.title()), Command::ShowSpace(*space)).with(Shortcut::ctrl(digit))
    });
    let palette = Entry::new("Command palette", Command::TogglePalette).with(Shortcut::ctrl('k'));
    let dismiss = Entry::new("Close what is on top", Command::Dismiss).with(Shortcut::plain(KeyName::Escape));
    spaces.chain([palette, dismiss]).collect()
}

fn documents(state: &AppState) -> Vec<Entry> {
    let mut entries = vec![
        Entry::new("Add files…", Command::PickFiles).with(Shortcut::ctrl('o')),
        Entry::new("Add folder…", Command::PickFolder).with(Shortcut::ctrl_shift('o')),
        Entry::new("Show all documents", Command::FilterStatus(StatusFilter::All)),
        Entry::new("Show documents with problems", Command::FilterStatus(StatusFilter::Problems)),
        Entry::new("Select all documents", Command::SelectAllDocuments),
        Entry::new("Try the samples", Command::AddSamples),
    ];
    if state.library.ingest.is_some() {
        entries.push(Entry::new("Cancel ingest", Command::CancelIngest));
        let (title, is_paused) = if state.library.paused { ("Resume ingest", false) } else { ("Pause ingest", true) };
        entries.push(Entry::new(title, Command::PauseIngest(is_paused)));
    }
    // What is removed must be in sight: in another space the key means something else.
    if state.space == Space::Library && !state.library.selected.is_empty() {
        entries.push(
            Entry::new("Remove selected documents", Command::RemoveSelected).with(Shortcut::plain(KeyName::Delete)),
        );
    }
    if let Some(id) = state.library.selected.first() {
        entries
            .push(Entry::new("Open selected document in Chunks", Command::OpenInChunks { document: *id, byte: None }));
    }
    entries
}

fn lab(state: &AppState) -> Vec<Entry> {
    if state.lab.document.is_none() {
        return Vec::new();
    }
    let mut entries = vec![
        Entry::new("Store the document with this chunker", Command::UseChunkerForDocument),
        Entry::new("Use this chunker for new documents", Command::UseChunkerForNew),
        Entry::new("Compute the boundary curve", Command::ComputeCurve),
    ];
    if state.lab.embedding.is_some() {
        entries.push(Entry::new("Stop embedding the document's sentences", Command::StopEmbedding));
    }
    if state.space == Space::Chunks && state.lab.edits.can_undo() {
        entries.push(Entry::new("Undo the last edit of the chunks", Command::UndoEdit).with(Shortcut::ctrl('z')));
    }
    if state.space == Space::Chunks && state.lab.edits.can_redo() {
        entries.push(Entry::new("Redo the edit of the chunks", Command::RedoEdit).with(Shortcut::ctrl_shift('z')));
    }
    if state.lab.is_comparing() {
        entries.push(Entry::new("End the comparison", Command::CompareWith(Vec::new())));
    }
    entries
}

fn chat(state: &AppState) -> Vec<Entry> {
    let conversations = Entry::new("Open a conversation…", Command::ShowConversations(true));
    if state.chat.running().is_some() {
        return vec![conversations, Entry::new("Stop the answer", Command::StopAnswer).with(Shortcut::ctrl('.'))];
    }
    let Some(turn) = state.chat.turns.last() else {
        return vec![conversations];
    };
    let mut entries = vec![
        conversations,
        Entry::new("New conversation", Command::ClearChat).with(Shortcut::ctrl('n')),
        Entry::new("Export the conversation…", Command::ExportChat(None)),
        Entry::new("Ask again", Command::AskAgain(turn.number)),
        Entry::new("Edit the question", Command::EditQuestion(Some(turn.number))),
    ];
    if let Some(answer) = state.chat.last_answer() {
        entries.push(Entry::new("Copy the answer", Command::CopyAnswer));
        entries.extend(citations(answer));
    }
    if turn.answer().is_some_and(|answer| !answer.passages.is_empty()) {
        entries.push(Entry::new("Why these passages?", Command::TogglePassages(turn.number)));
    }
    entries
}

/// One entry for each marker from 1 to 9.
fn citations(answer: &Answer) -> impl Iterator<Item = Entry> {
    let is_cited = |marker: u32| answer.citations.iter().any(|citation| citation.marker == marker);
    (1..).zip('1'..='9').filter(move |(marker, _)| is_cited(*marker)).map(|(marker, digit)| {
        Entry::new(format!("Open citation {marker}"), Command::OpenCitation(marker)).with(Shortcut::alt(digit))
    })
}

fn models() -> Vec<Entry> {
    vec![
        Entry::new("Add a GGUF model…", Command::PickModel { is_folder: false }),
        Entry::new("Add the folder of a reranker…", Command::PickModel { is_folder: true }),
    ]
}

fn preferences() -> Vec<Entry> {
    let themes = ThemeChoice::ALL
        .iter()
        .map(|(choice, word)| Entry::new(format!("Theme: {}", word.to_lowercase()), Command::SetTheme(*choice)));
    let scales = [1.0_f32, 1.25, 1.5, 2.0]
        .into_iter()
        .map(|scale| Entry::new(format!("Scale: {:.0} %", scale * 100.0), Command::SetScale(scale)));
    themes.chain(scales).chain([Entry::new("Quit", Command::Quit).with(Shortcut::ctrl('q'))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_shortcuts_are_unique() {
        let entries = entries(&AppState::default());
        let mut titles: Vec<&str> = entries.iter().map(|entry| entry.title.as_str()).collect();
        let mut shortcuts: Vec<String> =
            entries.iter().filter_map(|entry| entry.shortcut).map(Shortcut::label).collect();
        for names in [titles.len(), shortcuts.len()] {
            assert!(names > 5);
        }
        titles.sort_unstable();
        shortcuts.sort_unstable();
        assert!(titles.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(shortcuts.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
