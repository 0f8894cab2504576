//! A texture to draw on, on any adapter there is.

use egui::{ClippedPrimitive, TexturesDelta};
use egui_wgpu::{Renderer, RendererOptions, ScreenDescriptor};
use image::RgbaImage;
use wgpu::{
    Adapter, CommandEncoderDescriptor, Device, DeviceDescriptor, DeviceType, Extent3d, Instance, InstanceDescriptor,
    LoadOp, Operations, PollType, Queue, RenderPassColorAttachment, RenderPassDescriptor, StoreOp, Texture,
    TextureDescriptor, TextureDimension, TextureFormat, TextureUsages,
};

use super::OffscreenError;

const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
const BYTES_PER_PIXEL: u32 = 4;
const DRAW_WAIT: std::time::Duration = std::time::Duration::from_secs(30);

pub(super) struct Canvas {
    device: Device,
    queue: Queue,
    renderer: Renderer,
    texture: Texture,
}

impl Canvas {
    pub(super) fn new([width, height]: [u32; 2]) -> Result<Self, OffscreenError> {
        let adapter = pollster::block_on(adapter())?;
        let request = adapter.request_device(&DeviceDescriptor { label: Some("offscreen"), ..Default::default() });
        let (device, queue) = pollster::block_on(request).map_err(|err| OffscreenError::Adapter(err.to_string()))?;
        let texture = device.create_texture(&TextureDescriptor {
            label: Some("screen"),
            size: Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format: FORMAT,
            usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let renderer = Renderer::new(&device, FORMAT, RendererOptions::default());
        Ok(Self { device, queue, renderer, texture })
    }

    /// Takes the textures that a frame added and removed.
    pub(super) fn update_textures(&mut self, mut delta: TexturesDelta) {
        let mut set: Vec<_> = delta.set.drain().collect();
        set.sort_by_key(|(id, _)| *id);
        for (id, images) in set {
            for image in images {
                self.renderer.update_texture(&self.device, &self.queue, id, &image);
            }
        }
        let mut freed: Vec<_> = delta.free.drain().collect();
        freed.sort_unstable();
        for id in freed {
            self.renderer.free_texture(&id);
        }
        // Writes wait for a submission: without one they pile up over the frames that are not drawn.
        self.queue.submit([]);
    }

    /// Draws `primitives` and reads the picture back.
    pub(super) fn draw(
        &mut self,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
    ) -> Result<RgbaImage, OffscreenError> {
        let (width, height) = (self.texture.width(), self.texture.height());
        let screen = ScreenDescriptor { size_in_pixels: [width, height], pixels_per_point };
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("screen") });
        let uploads = self.renderer.update_buffers(&self.device, &self.queue, &mut encoder, primitives, &screen);
        let view = self.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let attachment = RenderPassColorAttachment {
            view: &view,
            resolve_target: None,
            ops: Operations { load: LoadOp::Clear(wgpu::Color::BLACK), store: StoreOp::Store },
            depth_slice: None,
        };
        let pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("screen"),
            color_attachments: &[Some(attachment)],
            ..Default::default()
        });
        let mut pass = pass.forget_lifetime();
        self.renderer.render(&mut pass, primitives, &screen);
        drop(pass);
        self.queue.submit(uploads.into_iter().chain([encoder.finish()]));
        self.read_back(width, height)
    }

    #[expect(clippy::disallowed_methods, reason = "a picture is wanted at once, and no frame waits for it")]
    fn read_back(&self, width: u32, height: u32) -> Result<RgbaImage, OffscreenError> {
        let row_bytes = width * BYTES_PER_PIXEL;
        let padded_row_bytes = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("screen read-back"),
            size: u64::from(padded_row_bytes) * u64::from(height),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("read-back") });
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded_row_bytes), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, self.texture.size());
        let submission = self.queue.submit([encoder.finish()]);
        let (sender, mapped) = std::sync::mpsc::sync_channel(1);
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |outcome| {
            // The receiver outlives the poll below; when it is gone, nobody waits.
            let _ = sender.send(outcome);
        });
        let wait = PollType::Wait { submission_index: Some(submission), timeout: Some(DRAW_WAIT) };
        self.device.poll(wait).map_err(draw_error)?;
        mapped.recv().map_err(draw_error)?.map_err(draw_error)?;
        let range = buffer.slice(..).get_mapped_range().map_err(draw_error)?;
        let rows = range.chunks_exact(padded_row_bytes as usize);
        let pixels: Vec<u8> = rows.flat_map(|row| &row[..row_bytes as usize]).copied().collect();
        RgbaImage::from_raw(width, height, pixels)
            .ok_or_else(|| OffscreenError::Draw(format!("the read-back is smaller than {width} x {height}")))
    }
}

fn draw_error(err: impl std::fmt::Display) -> OffscreenError {
    OffscreenError::Draw(err.to_string())
}

/// The adapter that is quickest to have: a software one if there is one, since a picture or two need no more.
async fn adapter() -> Result<Adapter, OffscreenError> {
    let instance = Instance::new(InstanceDescriptor::new_without_display_handle());
    let mut adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    adapters.sort_by_key(|adapter| adapter.get_info().device_type != DeviceType::Cpu);
    adapters.into_iter().next().ok_or_else(|| OffscreenError::Adapter("none found".to_owned()))
}
