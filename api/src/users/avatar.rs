//! The caller's picture.

use axum::extract::State;
use bursar_commands::{CommandError, users};
use bursar_domain::Event;
use bursar_domain::kernel::{AvatarId, FileType, StoredFile};
use bursar_domain::users::{Avatar, UserEvent};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::views::AvatarLinks;
use crate::answer::{Answer, FileAnswer};
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile};
use crate::edge::Scope;
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, FileContent, InPath, OneOf, Text, Write};

request! {
    /// A picture.
    NewAvatar {
        /// Base64; at most 5 MiB decoded.
        file_content: FileContent = "fileContent",
        /// `JPG` or `PNG`; the file must be one.
        file_type: OneOf<FileType> = "fileType",
        /// Passed over: the picture gets a name of the bank's.
        file_name: Option<Text<255>> = "fileName",
    }
}

/// A picture of the caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvatarView {
    avatar_id: String,
    /// `ACTIVE`.
    status: &'static str,
    /// Where the picture is, for the caller's token.
    image_url: String,
    /// Where a small one is.
    thumbnail_url: String,
    uploaded_at: Timestamp,
    /// Bytes as they were uploaded.
    file_size: u64,
    dimensions: Dimensions,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

/// Pixels of the picture as it is kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct Dimensions {
    width: u32,
    height: u32,
}

impl AvatarView {
    fn of(avatar: &Avatar, message: Option<&'static str>) -> Self {
        let AvatarLinks { avatar_id, image_url, thumbnail_url } = avatar.id.into();
        Self {
            avatar_id,
            status: "ACTIVE",
            image_url,
            thumbnail_url,
            uploaded_at: avatar.uploaded_at,
            file_size: avatar.size,
            dimensions: Dimensions { width: avatar.width, height: avatar.height },
            message,
        }
    }
}

/// Reads about the caller's picture.
#[utoipa::path(
    get, path = "/v1/users/profile/avatar", tag = "Users", params(ReadHeaders),
    responses((status = 200, description = "The picture.", body = AvatarView), ReadProblems)
)]
pub(super) async fn read_avatar(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
) -> Result<Answer<AvatarView>, Problem> {
    Ok(Answer::ok(AvatarView::of(&users::avatar(&app.journal, caller.user()).await?, None)))
}

/// Sets the caller's picture, in the place of any other.
///
/// It is kept upright, without metadata, at most 1,024 pixels wide and high.
#[utoipa::path(
    post, path = "/v1/users/profile/avatar", tag = "Users",
    params(WriteHeaders), request_body = NewAvatar,
    responses((status = 201, description = "Set.", body = AvatarView), WriteProblems)
)]
pub(super) async fn set_avatar(
    State(app): State<App>,
    scope: axum::Extension<Scope>,
    write: Write<ManageProfile, NewAvatar>,
) -> Result<Answer<AvatarView>, Problem> {
    let Write { caller, body, context, .. } = write;
    scope.limit(app.limits.upload(caller.user(), scope.started()))?;
    let (OneOf(file_type), content) = (body.file_type, body.file_content.bytes()?);
    let committed =
        users::set_avatar(&app.journal, &app.files, context, caller.user(), file_type, content).await?;
    let (_, avatar) = committed.event(|event| match event {
        Event::User(UserEvent::AvatarSet(avatar)) => Some(&**avatar),
        _ => None,
    })?;
    let view = AvatarView::of(avatar, Some("Avatar uploaded"));
    Ok(Answer::ok(view).at(&committed).created("/v1/users/profile/avatar"))
}

/// Downloads the caller's picture.
#[utoipa::path(
    get, path = "/v1/users/profile/avatar/{avatarId}/image", tag = "Users",
    params(InPath<AvatarId>, ReadHeaders),
    responses((status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/*"), ReadProblems)
)]
pub(super) async fn read_avatar_image(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<AvatarId>,
) -> Result<FileAnswer, Problem> {
    picture(&app, &caller, wants, id, |avatar| &avatar.image).await
}

/// Downloads a small version of the caller's picture.
#[utoipa::path(
    get, path = "/v1/users/profile/avatar/{avatarId}/thumbnail", tag = "Users",
    params(InPath<AvatarId>, ReadHeaders),
    responses((status = 200, description = "The picture.", body = Vec<u8>, content_type = "image/*"), ReadProblems)
)]
pub(super) async fn read_avatar_thumbnail(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<AvatarId>,
) -> Result<FileAnswer, Problem> {
    picture(&app, &caller, wants, id, |avatar| &avatar.thumbnail).await
}

async fn picture(
    app: &App,
    caller: &Caller,
    wants: Conditions,
    id: InPath<AvatarId>,
    which: impl Fn(&Avatar) -> &StoredFile,
) -> Result<FileAnswer, Problem> {
    let unknown = || Problem::not_found("avatar");
    let id = id.get()?;
    let avatar = match users::avatar(&app.journal, caller.user()).await {
        Ok(avatar) if avatar.id == id => avatar,
        Ok(_) => return Err(unknown()),
        Err(error) if error.code() == Some("NOT_FOUND") => return Err(unknown()),
        Err(error) => return Err(CommandError::into(error)),
    };
    let file = which(&avatar);
    let bytes = app.files.get(&app.journal, caller.user(), file).await?;
    Ok(FileAnswer::shown(file, bytes, wants.none_match))
}
