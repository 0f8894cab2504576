//! [`Workbench`]: the whole window as a value, without the operating system's part of it.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{CentralPanel, Context, Frame, Margin, Theme, ThemePreference, Ui, ViewportCommand};

use super::chat::ChatPanel;
use super::chunks::ChunksPanel;
use super::command_palette::CommandPalette;
use super::inspector::Inspector;
use super::library::LibraryPanel;
use super::models::ModelsPanel;
use super::search::SearchPanel;
use super::settings::SettingsPanel;
use super::similarity::SimilarityPanel;
use super::theme::palette;
use super::widgets::error_block;
use super::window::WindowOptions;
use super::{notices, rail, shortcuts, status_line, theme};
use crate::command::{self, Command};
use crate::jobs::{self, Jobs, JobsOptions, Wake};
use crate::state::{AppState, Loadable, Settings, Space, ThemeChoice};

/// What a workbench is made with.
pub struct WorkbenchOptions {
    /// The library, opened on a thread of its own, and where settings are kept.
    pub window: WindowOptions,
    /// The settings to begin with.
    pub settings: Settings,
}

/// The window's state, jobs and panels.
pub struct Workbench {
    state: AppState,
    jobs: Jobs,
    panels: Panels,
    commands: Vec<Command>,
    applied: Option<(ThemeChoice, f32)>,
}

#[derive(Default)]
struct Panels {
    library: LibraryPanel,
    chunks: ChunksPanel,
    similarity: SimilarityPanel,
    search: SearchPanel,
    chat: ChatPanel,
    models: ModelsPanel,
    settings: SettingsPanel,
    palette: CommandPalette,
    inspector: Inspector,
}

impl Workbench {
    /// Gives `ctx` the window's look and begins to open the library.
    pub fn new(ctx: &Context, options: WorkbenchOptions) -> Self {
        theme::install_fonts(ctx);
        theme::apply(ctx);
        let waker = ctx.clone();
        let wake: Wake = Arc::new(move |wait| waker.request_repaint_after(wait));
        let WindowOptions { library, home, samples } = options.window;
        let jobs = Jobs::new(JobsOptions { library, home, samples }, wake);
        jobs.open_library();
        let state = AppState {
            settings: options.settings,
            opened: Loadable::Pending { previous: None },
            ..AppState::default()
        };
        let commands = vec![Command::ShowSpace(state.settings.space)];
        Self { state, jobs, panels: Panels::default(), commands, applied: None }
    }

    /// What the window shows.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// Queues a command, as a panel would.
    pub fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Takes shortcuts, queued commands and job events into the state. Draws nothing and waits for nothing.
    pub fn logic(&mut self, ctx: &Context) {
        let pressed = shortcuts::pressed(ctx, &self.state);
        self.commands.extend(pressed);
        self.take_dropped(ctx);
        while let Some(event) = self.jobs.next_event() {
            command::apply(event, &mut self.state, &mut self.jobs);
        }
        self.state.library.ingest = self.jobs.ingest_progress();
        for command in std::mem::take(&mut self.commands) {
            if command == Command::Quit {
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            if command == Command::CopyAnswer
                && let Some(answer) = self.state.chat.last_answer()
            {
                ctx.copy_text(answer.answer.clone());
            }
            self.run(command);
        }
        self.apply_appearance(ctx);
    }

    /// Draws the window. Commands that panels push run in the next [`Workbench::logic`].
    pub fn ui(&mut self, ui: &mut Ui) {
        let (state, commands) = (&self.state, &mut self.commands);
        rail::rail_ui(ui, state, commands);
        status_line::status_line_ui(ui, state, commands);
        if !matches!(state.space, Space::Chunks | Space::Similarity) {
            self.panels.inspector.ui(ui, state, commands);
        }
        if let Some(error) = state.opened.error() {
            failed_ui(ui, error, commands);
        } else {
            self.panels.space_ui(ui, state, commands);
        }
        notices::notices_ui(ui, state, commands);
        self.panels.palette.ui(ui, state, commands);
        if !self.commands.is_empty() {
            ui.ctx().request_repaint();
        }
    }

    fn run(&mut self, command: Command) {
        let before = self.state.space;
        command::run(command, &mut self.state, &mut self.jobs);
        if before != self.state.space {
            self.panels.search.leave();
            self.panels.chat.leave();
        }
    }

    fn take_dropped(&mut self, ctx: &Context) {
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.commands.extend([Command::AddPaths(dropped), Command::ShowSpace(Space::Library)]);
        }
    }

    /// Theme and zoom follow the settings.
    fn apply_appearance(&mut self, ctx: &Context) {
        let wanted = (self.state.settings.theme, self.state.settings.scale);
        if self.applied == Some(wanted) {
            return;
        }
        self.applied = Some(wanted);
        ctx.set_theme(match wanted.0 {
            ThemeChoice::System => ThemePreference::System,
            ThemeChoice::Light => Theme::Light.into(),
            ThemeChoice::Dark => Theme::Dark.into(),
        });
        ctx.set_zoom_factor(wanted.1);
    }

    /// Remembers the window's inner size.
    pub fn remember_size(&mut self, size: egui::Vec2) {
        self.run(Command::RememberWindowSize([size.x, size.y]));
    }
}

impl Panels {
    fn space_ui(&mut self, ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
        match state.space {
            Space::Library => self.library.ui(ui, state, commands),
            Space::Chunks => self.chunks.ui(ui, state, commands),
            Space::Similarity => self.similarity.ui(ui, state, commands),
            Space::Search => self.search.ui(ui, state, commands),
            Space::Chat => self.chat.ui(ui, state, commands),
            Space::Models => self.models.ui(ui, state, commands),
            Space::Settings => self.settings.ui(ui, state, commands),
        }
    }
}

fn failed_ui(ui: &mut Ui, error: &crate::library::Error, commands: &mut Vec<Command>) {
    let frame = Frame::new().fill(palette(ui).ground).inner_margin(Margin::same(24));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        error_block(ui, error);
        if ui.button("Try again").clicked() {
            commands.push(Command::ReopenLibrary);
        }
    });
}

/// The settings of `home`.
pub(super) fn load_settings(home: &std::path::Path) -> Settings {
    jobs::load_settings(home)
}
