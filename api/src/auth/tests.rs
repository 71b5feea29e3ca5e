use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bursar_commands::journal::Observer as _;
use bursar_domain::sessions::{EndReason, SessionEvent};
use bursar_domain::{Event, Kind, Metadata, Recorded, StreamId};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::*;

const SEED: [u8; 32] = [9; 32];
const NOW: i64 = 1_800_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn tokens() -> AccessTokens {
    AccessTokens::new(&SEED, "bursar", "bursar", 900).unwrap()
}

fn user() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn session() -> SessionId {
    "ses_0192f0c1a0007000800000000000000b".parse().unwrap()
}

fn token() -> String {
    tokens().sign(user(), session(), "jti-1", at(NOW), &[Permission::ReadAccount]).unwrap()
}

fn parts(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
    let mut json = || serde_json::from_slice(&parts.next().unwrap()).unwrap();
    (json(), json())
}

/// A token with these parts, signed by our own key, whatever they say.
fn signed(header: &Value, claims: &Value) -> String {
    let pair = Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap();
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encode(header), encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes()));
    format!("{message}.{signature}")
}

#[test]
fn a_token_says_who_may_do_what_until_when() {
    let claims = tokens().verify(&token()).unwrap();
    assert_eq!(
        (claims.sub, claims.sid, claims.perm.as_slice()),
        (user(), session(), &[Permission::ReadAccount][..])
    );
    assert_eq!((claims.iat, claims.exp), (NOW, NOW + 900));
    assert!(claims.is_good(at(NOW + 899)) && !claims.is_good(at(NOW + 900)));
    assert_eq!(token(), token(), "a repeated login answers the same bytes");
    let (header, claims) = parts(&token());
    assert!(tokens().verify(&signed(&header, &claims)).is_some(), "the forger below would be believed");
}

#[test]
fn the_algorithm_cannot_be_chosen_by_the_sender() {
    let (mut header, claims) = parts(&token());
    header["alg"] = json!("none");
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    assert!(tokens().verify(&format!("{}.{}.", encode(&header), encode(&claims))).is_none());

    let public = Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap().public_key().as_ref().to_vec();
    let kid = header["kid"].as_str().map(str::to_owned);
    let hs256 = Header { typ: Some("at+jwt".into()), kid, ..Header::new(Algorithm::HS256) };
    let confused = jsonwebtoken::encode(&hs256, &claims, &EncodingKey::from_secret(&public)).unwrap();
    assert!(tokens().verify(&confused).is_none());
}

#[test]
fn every_header_and_claim_must_be_ours() {
    let wrong_headers = [
        json!({"typ": "JWT"}),
        json!({"typ": null}),
        json!({"kid": "../../etc/passwd"}),
        json!({"kid": null}),
        json!({"crit": ["b64"]}),
    ];
    for wrong in wrong_headers {
        let (mut header, claims) = parts(&token());
        header.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert!(tokens().verify(&signed(&header, &claims)).is_none(), "{wrong}");
    }
    for wrong in
        [json!({"iss": "else"}), json!({"aud": "else"}), json!({"sub": "usr_1"}), json!({"perm": ["ROOT"]})]
    {
        let (header, mut claims) = parts(&token());
        claims.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert!(tokens().verify(&signed(&header, &claims)).is_none(), "{wrong}");
    }
    for missing in ["iss", "aud", "sub", "sid", "jti", "iat", "exp", "perm"] {
        let (header, mut claims) = parts(&token());
        claims.as_object_mut().unwrap().remove(missing);
        assert!(tokens().verify(&signed(&header, &claims)).is_none(), "{missing}");
    }
}

#[test]
fn a_key_in_the_header_is_not_looked_at() {
    let stranger = AccessTokens::new(&[1; 32], "bursar", "bursar", 900).unwrap();
    let token = stranger.sign(user(), session(), "jti", at(NOW), &[]).unwrap();
    assert!(tokens().verify(&token).is_none());
    let pair = Ed25519KeyPair::from_seed_unchecked(&[1; 32]).unwrap();
    let (mut header, claims) = parts(&token);
    header["kid"] = parts(&self::token()).0["kid"].clone();
    header["jwk"] = json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(pair.public_key())});
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encode(&header), encode(&claims));
    let forged = format!("{message}.{}", URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes())));
    assert!(tokens().verify(&forged).is_none());
}

#[test]
fn the_published_key_is_the_one_that_verifies() {
    let jwks = tokens().jwks();
    assert_eq!(jwks["keys"][0]["kid"], parts(&token()).0["kid"]);
    assert_eq!(jwks["keys"][0]["alg"], "EdDSA");
    let seed = URL_SAFE_NO_PAD.encode(SEED);
    assert!(!jwks.to_string().contains(&seed), "only the public half");
}

fn ended(session: SessionId) -> Recorded {
    Recorded {
        position: 1,
        stream: StreamId::new(Kind::Session, session),
        sequence: 2,
        recorded_at: at(NOW),
        metadata: Metadata::default(),
        event: Event::Session(SessionEvent::Ended { reason: EndReason::Revoked }),
    }
}

#[test]
fn a_remembered_token_dies_with_its_session() {
    let (cache, sessions) = (Verified::new(100), Sessions::default());
    let hash = Verified::hash(&token());
    let claims = tokens().verify(&token()).unwrap();
    cache.put(hash, Caller::new(claims, sessions.watch(session(), user())), at(NOW));
    assert_eq!(cache.get(&hash, at(NOW)).map(|caller| caller.user()), Some(user()));
    sessions.recorded(&[ended("ses_0192f0c1a0007000800000000000000c".parse().unwrap())]);
    assert!(cache.get(&hash, at(NOW)).is_some(), "another session's end");
    sessions.recorded(&[ended(session())]);
    assert!(cache.get(&hash, at(NOW)).is_none());
}

#[test]
fn a_remembered_token_expires() {
    let (cache, hash) = (Verified::new(100), Verified::hash(&token()));
    cache.put(hash, Caller::new(tokens().verify(&token()).unwrap(), Ended::default()), at(NOW));
    assert!(cache.get(&hash, at(NOW + 899)).is_some());
    assert!(cache.get(&hash, at(NOW + 900)).is_none());
}

#[test]
fn the_cache_is_bounded() {
    let cache = Verified::new(32);
    let caller = Caller::new(tokens().verify(&token()).unwrap(), Ended::default());
    let hashes: Vec<_> = (0..1000).map(|n| Verified::hash(&n.to_string())).collect();
    hashes.iter().for_each(|hash| cache.put(*hash, caller.clone(), at(NOW)));
    assert!(hashes.iter().filter(|hash| cache.get(hash, at(NOW)).is_some()).count() <= 32);
}

#[test]
fn only_a_bearer_header_holds_a_token() {
    let of = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        bearer(&headers).map(str::to_owned)
    };
    assert_eq!(of("Bearer abc"), Some("abc".to_owned()));
    assert_eq!(of("bearer abc"), Some("abc".to_owned()));
    assert_eq!(of("Basic abc"), None);
    assert_eq!(of("Bearer"), None);
    assert_eq!(bearer(&HeaderMap::new()), None);
}

#[test]
fn a_token_of_the_future_is_not_good_yet() {
    let (header, claims) = parts(&token());
    let is_good = |name: &str, second: i64| {
        let mut claims = claims.clone();
        claims[name] = json!(second);
        tokens().verify(&signed(&header, &claims)).unwrap().is_good(at(NOW))
    };
    // The clocks of two servers may differ by a minute.
    assert!(is_good("iat", NOW + 60) && is_good("nbf", NOW + 60));
    assert!(!is_good("iat", NOW + 61) && !is_good("nbf", NOW + 61));
    assert!(!is_good("nbf", i64::MAX) && !is_good("iat", i64::MAX));
    assert!(is_good("nbf", i64::MIN));
}

#[test]
fn whatever_happens_to_a_user_makes_their_tokens_be_looked_at_again() {
    let (cache, sessions) = (Verified::new(100), Sessions::default());
    let hash = Verified::hash(&token());
    cache.put(
        hash,
        Caller::new(tokens().verify(&token()).unwrap(), sessions.watch(session(), user())),
        at(NOW),
    );
    let happened = |user: UserId| Recorded {
        stream: StreamId::new(Kind::User, user),
        event: Event::User(bursar_domain::users::UserEvent::Activated),
        ..ended(session())
    };
    sessions.recorded(&[happened("usr_0192f0c1a0007000800000000000000c".parse().unwrap())]);
    assert!(cache.get(&hash, at(NOW)).is_some());
    sessions.recorded(&[happened(user())]);
    assert!(cache.get(&hash, at(NOW)).is_none());
}
