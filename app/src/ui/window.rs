//! The operating system's window around a [`Workbench`].

use std::path::PathBuf;
use std::sync::Arc;

use eframe::{App, CreationContext, NativeOptions};
use egui::{Ui, Vec2, ViewportBuilder};

use super::workbench::{self, Workbench, WorkbenchOptions};
use super::{theme, window_icon};
use crate::library::LibraryOptions;
use crate::state::Settings;

/// What to open.
#[derive(Clone, Default)]
pub struct WindowOptions {
    /// The library.
    pub library: LibraryOptions,
    /// Outcrop's home, where the window keeps its settings; `None` keeps none.
    pub home: Option<PathBuf>,
    /// A folder of sample documents; `None` takes those that the program carries.
    pub samples: Option<PathBuf>,
}

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// The system gave no window or no way to draw into it.
    #[error("the window could not be opened: {0}; without a display, use the commands of `outcrop --help`")]
    Open(String),
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// There is no display, or no adapter can draw.
pub fn run(options: WindowOptions) -> Result<(), WindowError> {
    let settings = options.home.as_deref().map(workbench::load_settings).unwrap_or_default();
    let native = NativeOptions { viewport: viewport(&settings), persist_window: false, ..NativeOptions::default() };
    let create = move |cc: &CreationContext<'_>| -> Result<Box<dyn App>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Box::new(Window::new(cc, options, settings)))
    };
    eframe::run_native("Outcrop", native, Box::new(create)).map_err(|err| WindowError::Open(err.to_string()))
}

fn viewport(settings: &Settings) -> ViewportBuilder {
    ViewportBuilder::default()
        .with_title("Outcrop")
        .with_app_id("outcrop")
        .with_inner_size(settings.window_size)
        .with_min_inner_size(Settings::MIN_WINDOW_SIZE)
        .with_icon(Arc::new(window_icon::window_icon()))
}

struct Window {
    workbench: Workbench,
    size: Vec2,
}

impl Window {
    fn new(cc: &CreationContext<'_>, window: WindowOptions, settings: Settings) -> Self {
        let size = settings.window_size.into();
        let options = WorkbenchOptions { window, settings };
        Self { workbench: Workbench::new(&cc.egui_ctx, options), size }
    }

    /// Remembers a new size once the pointer is up, not while the edge is dragged.
    fn follow_size(&mut self, ctx: &egui::Context) {
        // Asked for first: the context is locked while its input is read.
        let zoom_factor = ctx.zoom_factor();
        let (inner, is_normal, is_down) = ctx.input(|input| {
            let viewport = input.viewport();
            let is_normal = !viewport.maximized.unwrap_or(false) && !viewport.fullscreen.unwrap_or(false);
            (viewport.inner_rect.map(|rect| rect.size() * zoom_factor), is_normal, input.pointer.any_down())
        });
        let Some(size) = inner.filter(|size| is_normal && !is_down && (*size - self.size).length() > 1.0) else {
            return;
        };
        self.size = size;
        self.workbench.remember_size(size);
    }
}

impl App for Window {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.workbench.logic(ctx);
        self.follow_size(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.workbench.ui(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        theme::tokens().palette(visuals.dark_mode).ground.to_normalized_gamma_f32()
    }
}
