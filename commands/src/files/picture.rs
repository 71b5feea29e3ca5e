//! Pictures: decoded under limits, and written anew, so that what is kept is a picture and nothing else.

use std::io::Cursor;
use std::sync::Arc;

use bursar_domain::kernel::{FileError, FileType};
use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use tokio::sync::Semaphore;

use super::ends::{jpeg_length, png_length};
use crate::owned::CommandError;

/// How good a JPEG that is written anew is, of 100.
const QUALITY: u8 = 92;
/// The longer side of an avatar, in pixels, and of its thumbnail.
const AVATAR: u32 = 1_024;
const THUMBNAIL: u32 = 128;
/// Bytes a pixel takes at most: four channels of 16 bits.
const PIXEL: u64 = 8;

/// What is let in.
#[derive(Debug, Clone, Copy)]
pub struct PictureLimits {
    /// The most pixels of a picture.
    pub most_pixels: u32,
    /// How many are decoded at once.
    pub at_once: usize,
}

/// Decodes and encodes, no more at once than the limits say.
#[derive(Debug, Clone)]
pub struct Pictures {
    limits: PictureLimits,
    permits: Arc<Semaphore>,
}

/// A person's picture, and a small one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avatar {
    /// The picture, of the type that was handed in.
    pub image: Vec<u8>,
    /// The small one, of the same type.
    pub thumbnail: Vec<u8>,
    /// Pixels of the picture.
    pub width: u32,
    /// Pixels of the picture.
    pub height: u32,
}

impl Pictures {
    pub(super) fn new(limits: PictureLimits) -> Self {
        Self { limits, permits: Arc::new(Semaphore::new(limits.at_once.max(1))) }
    }

    /// The same picture without anything that is none: no metadata, nothing behind its end, upright.
    pub(super) async fn clean(&self, file_type: FileType, bytes: Vec<u8>) -> Result<Vec<u8>, CommandError> {
        let most = self.limits.most_pixels;
        self.limited(move || encode(&decode(file_type, &bytes, most)?, file_type)).await
    }

    /// The picture as an avatar, at most 1,024 pixels wide and high, and its thumbnail.
    pub(super) async fn avatar(&self, file_type: FileType, bytes: Vec<u8>) -> Result<Avatar, CommandError> {
        let most = self.limits.most_pixels;
        self.limited(move || {
            let whole = decode(file_type, &bytes, most)?;
            let within = |side| fit(&whole, side);
            let picture = within(AVATAR);
            Ok(Avatar {
                image: encode(&picture, file_type)?,
                thumbnail: encode(&within(THUMBNAIL), file_type)?,
                width: picture.width(),
                height: picture.height(),
            })
        })
        .await
    }

    async fn limited<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, CommandError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| CommandError::unavailable())?;
        // The permit goes along: when the caller hangs up, the work goes on, and still counts.
        let work = move || {
            let _permit = permit;
            work()
        };
        // A decoder that panics takes nobody along.
        let done = tokio::task::spawn_blocking(work).await.unwrap_or(Err(FileError::Damaged));
        done.map_err(CommandError::refused)
    }
}

/// The pixels, upright. Memory is bounded before any of it is taken.
fn decode(file_type: FileType, bytes: &[u8], most_pixels: u32) -> Result<DynamicImage, FileError> {
    let (format, end) = match file_type {
        FileType::Jpg => (ImageFormat::Jpeg, jpeg_length(bytes)),
        FileType::Png => (ImageFormat::Png, png_length(bytes)),
        FileType::Pdf => return Err(FileError::NoPicture),
    };
    let bytes = end.and_then(|end| bytes.get(..end)).ok_or(FileError::Damaged)?;
    let mut limits = Limits::no_limits();
    // The pixels, and as much again for what the decoder needs besides.
    limits.max_alloc = Some(u64::from(most_pixels) * PIXEL * 2);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|_| FileError::Damaged)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > u64::from(most_pixels) {
        return Err(FileError::TooManyPixels { allowed: most_pixels });
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|_| FileError::Damaged)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// `picture`, or a smaller one whose longer side is `side`.
fn fit(picture: &DynamicImage, side: u32) -> DynamicImage {
    if picture.width() <= side && picture.height() <= side {
        picture.clone()
    } else {
        picture.thumbnail(side, side)
    }
}

fn encode(picture: &DynamicImage, file_type: FileType) -> Result<Vec<u8>, FileError> {
    let mut bytes = Cursor::new(Vec::new());
    let encoded = match file_type {
        // JPEG has neither 16 bits nor transparency.
        FileType::Jpg => match picture {
            DynamicImage::ImageLuma8(grey) => {
                grey.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))
            }
            _ => picture.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)),
        },
        FileType::Png => picture.write_to(&mut bytes, ImageFormat::Png),
        FileType::Pdf => return Err(FileError::NoPicture),
    };
    encoded.map(|()| bytes.into_inner()).map_err(|_| FileError::Damaged)
}
