//! A [`Workbench`] that is driven frame by frame and photographed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui::{Context, FullOutput, Pos2, RawInput, Rect, TexturesDelta};

use super::canvas::Canvas;
use super::{OffscreenError, ScreenOptions};
use crate::command::Command;
use crate::state::{AppState, Settings};
use crate::ui::window::WindowOptions;
use crate::ui::workbench::{Workbench, WorkbenchOptions};

/// Pause between frames while a job is awaited.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Stage {
    ctx: Context,
    workbench: Workbench,
    canvas: Canvas,
    size: [f32; 2],
    pixels_per_point: f32,
    started: Instant,
}

impl Stage {
    pub(super) fn open(options: &ScreenOptions) -> Result<Self, OffscreenError> {
        let ScreenOptions { size, pixels_per_point, .. } = *options;
        let canvas = Canvas::new(size.map(|points| (points * pixels_per_point).round() as u32))?;
        let ctx = Context::default();
        let settings = Settings { window_size: size, ..Settings::default() };
        let window = WindowOptions { home: None, ..options.window.clone() };
        let workbench = Workbench::new(&ctx, WorkbenchOptions { window, settings });
        Ok(Self { ctx, workbench, canvas, size, pixels_per_point, started: Instant::now() })
    }

    pub(super) fn state(&self) -> &AppState {
        self.workbench.state()
    }

    pub(super) fn push(&mut self, command: Command) {
        self.workbench.push(command);
    }

    /// Runs frames until `done`.
    pub(super) fn until(
        &mut self,
        what: &'static str,
        wait: Duration,
        done: impl Fn(&AppState) -> bool,
    ) -> Result<(), OffscreenError> {
        let begun = Instant::now();
        self.settle();
        while !done(self.state()) {
            if begun.elapsed() > wait {
                return Err(OffscreenError::Late(what, wait.as_secs()));
            }
            std::thread::sleep(PAUSE);
            self.frame();
        }
        Ok(())
    }

    /// Runs frames until layout and motion are at rest.
    pub(super) fn settle(&mut self) {
        for _ in 0..12 {
            self.frame();
        }
    }

    /// Draws the next frame into a PNG.
    pub(super) fn write(&mut self, path: &Path) -> Result<PathBuf, OffscreenError> {
        let output = self.run();
        let primitives = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        self.canvas.update_textures(output.textures_delta);
        let image = self.canvas.draw(&primitives, self.pixels_per_point)?;
        image.save(path).map_err(|err| OffscreenError::Write { path: path.to_owned(), detail: err.to_string() })?;
        Ok(path.to_owned())
    }

    fn frame(&mut self) {
        let output = self.run();
        self.canvas.update_textures(output.textures_delta);
    }

    fn run(&mut self) -> FullOutput {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size.into())),
            time: Some(self.started.elapsed().as_secs_f64()),
            focused: true,
            ..RawInput::default()
        };
        let viewport = input.viewports.entry(input.viewport_id).or_default();
        viewport.native_pixels_per_point = Some(self.pixels_per_point);
        let (ctx, workbench) = (&self.ctx, &mut self.workbench);
        let mut textures = TexturesDelta::default();
        let mut output = ctx.run_ui(input, |ui| {
            workbench.logic(ui.ctx());
            workbench.ui(ui);
        });
        textures.append(std::mem::take(&mut output.textures_delta));
        output.textures_delta = textures;
        output
    }
}
