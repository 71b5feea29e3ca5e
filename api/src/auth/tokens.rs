//! Access tokens: RFC 9068 JWTs, signed with one Ed25519 key.
//!
//! One algorithm, a closed set of keys, every claim required (RFC 8725). Signing is deterministic, so the token of
//! an event is always the same token and a repeated login answers the same bytes.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bursar_domain::kernel::{Permission, SessionId, UserId};
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The `typ` of our tokens (RFC 9068), which keeps other JWTs from being taken for one.
const TYPE: &str = "at+jwt";
/// Seconds that the clock of the server that signed may be ahead of ours.
const AHEAD: i64 = 60;
/// Longest token looked at, in bytes.
const LONGEST: usize = 4096;

/// What an access token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "RFC 7519 and RFC 9068 name them")]
pub struct Claims {
    pub iss: String,
    pub aud: String,
    pub sub: UserId,
    /// The session.
    pub sid: SessionId,
    pub jti: String,
    /// Seconds since 1970.
    pub iat: i64,
    /// Seconds since 1970.
    pub exp: i64,
    /// Seconds since 1970; we write none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// What it allows.
    pub perm: Vec<Permission>,
}

/// The key could not be made; never with 32 bytes of seed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the signing key cannot be used")]
pub struct BadKey;

/// Signs and verifies access tokens. No `Debug`.
pub struct AccessTokens {
    signing: EncodingKey,
    verifying: DecodingKey,
    kid: String,
    public: String,
    issuer: String,
    audience: String,
    validation: Validation,
    seconds: i64,
}

impl AccessTokens {
    /// Tokens of `issuer` for `audience`, good for `seconds`.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn new(seed: &[u8; 32], issuer: &str, audience: &str, seconds: i64) -> Result<Self, BadKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| BadKey)?;
        let pkcs8 = pair.to_pkcs8().map_err(|_| BadKey)?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        // RFC 7638: the thumbprint of the key's required members in this order.
        let thumbprint = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}"#);
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_audience(&[audience]);
        validation.set_issuer(&[issuer]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        // By the bank's clock, in `verify`; the library would ask the machine.
        validation.validate_exp = false;
        Ok(Self {
            signing: EncodingKey::from_ed_der(pkcs8.as_ref()),
            verifying: DecodingKey::from_ed_components(&public).map_err(|_| BadKey)?,
            kid: URL_SAFE_NO_PAD.encode(digest(&SHA256, thumbprint.as_bytes())),
            public,
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            validation,
            seconds,
        })
    }

    /// Seconds a token is good.
    #[must_use]
    pub const fn seconds(&self) -> i64 {
        self.seconds
    }

    /// The token of one issue of a session; always the same for the same arguments.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn sign(
        &self,
        user: UserId,
        session: SessionId,
        jti: &str,
        issued_at: Timestamp,
        permissions: &[Permission],
    ) -> Result<String, BadKey> {
        self.sign_for(self.seconds, user, session, jti, issued_at, permissions)
    }

    /// The same, good for `seconds`.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn sign_for(
        &self,
        seconds: i64,
        user: UserId,
        session: SessionId,
        jti: &str,
        issued_at: Timestamp,
        permissions: &[Permission],
    ) -> Result<String, BadKey> {
        let header = Header {
            typ: Some(TYPE.to_owned()),
            kid: Some(self.kid.clone()),
            ..Header::new(Algorithm::EdDSA)
        };
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: user,
            sid: session,
            jti: jti.to_owned(),
            iat: issued_at.as_second(),
            exp: issued_at.as_second().saturating_add(seconds),
            nbf: None,
            perm: permissions.to_vec(),
        };
        jsonwebtoken::encode(&header, &claims, &self.signing).map_err(|_| BadKey)
    }

    /// The claims of a token of ours; of an expired one too, see [`Claims::is_good`].
    #[must_use]
    pub fn verify(&self, token: &str) -> Option<Claims> {
        if token.len() > LONGEST {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        // Keys are found by name in our own set of one; `jku`, `jwk` and `x5u` are never looked at.
        let ours = header.typ.as_deref() == Some(TYPE)
            && header.alg == Algorithm::EdDSA
            && header.kid.as_deref() == Some(self.kid.as_str())
            && header.crit.is_none();
        if !ours {
            return None;
        }
        jsonwebtoken::decode(token, &self.verifying, &self.validation).ok().map(|data| data.claims)
    }

    /// The public keys as a JWK set (RFC 7517).
    #[must_use]
    pub fn jwks(&self) -> Value {
        json!({ "keys": [{
            "kty": "OKP", "crv": "Ed25519", "x": self.public,
            "kid": self.kid, "alg": "EdDSA", "use": "sig",
        }]})
    }
}

impl Claims {
    /// Whether the token is good at `now`.
    #[must_use]
    pub fn is_good(&self, now: Timestamp) -> bool {
        let now = now.as_second();
        let begun = |from: i64| from <= now.saturating_add(AHEAD);
        now < self.exp && begun(self.iat) && self.nbf.is_none_or(begun)
    }
}
