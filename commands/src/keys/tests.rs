use super::*;

fn keys(byte: u8) -> Keys {
    Keys::derive(&[byte; 32])
}

fn session() -> SessionId {
    "ses_0192f0c1a0007000800000000000000a".parse().unwrap()
}

#[test]
fn a_master_key_reads_back_and_nothing_else_does() {
    let key = MasterKey(Zeroizing::new([7; 32]));
    assert_eq!(*MasterKey::parse(&key.to_text()).ok().unwrap().0, [7; 32]);
    assert!(MasterKey::parse("too short").is_err());
    assert!(MasterKey::parse(&"A".repeat(44)).is_err());
}

#[test]
fn every_purpose_has_its_own_key_and_every_master_its_own_keys() {
    let (one, other) = (keys(1), keys(2));
    assert_ne!(*one.token_seed, *one.pepper);
    assert_ne!(*one.token_seed, *other.token_seed);
    assert_ne!(*one.token_seed, [0; 32]);
    assert_ne!(one.email_lookup("ada@example.com"), other.email_lookup("ada@example.com"));
}

#[test]
fn a_refresh_token_is_a_function_of_session_generation_and_key() {
    let token = keys(1).refresh_token(session(), 3);
    assert_eq!(token.as_str(), keys(1).refresh_token(session(), 3).as_str());
    assert_ne!(token.as_str(), keys(1).refresh_token(session(), 4).as_str());
    assert_ne!(token.as_str(), keys(2).refresh_token(session(), 3).as_str());
    let read = keys(1).read_refresh_token(token.as_str()).unwrap();
    assert_eq!((read.session, read.generation, read.hash()), (session(), 3, token.hash()));
    assert_eq!(token.hash().len(), 64);
}

#[test]
fn a_card_token_is_a_function_of_holder_number_and_key() {
    let holder = "usr_0192f0c1a0007000800000000000000a".parse().unwrap();
    let other = "usr_0192f0c1a0007000800000000000000b".parse().unwrap();
    let number = "4111111111111111".parse().unwrap();
    let token = keys(1).card_token(holder, &number);
    assert_eq!(token, keys(1).card_token(holder, &"4111 1111 1111 1111".parse().unwrap()));
    assert_ne!(token, keys(2).card_token(holder, &number));
    assert_ne!(token, keys(1).card_token(other, &number));
    assert_ne!(token, keys(1).card_token(holder, &"4242424242424242".parse().unwrap()));
    assert_eq!(hex(&token).len(), 64);
}

#[test]
fn a_code_is_six_digits_and_another_one_each_time() {
    let user = "usr_0192f0c1a0007000800000000000000a".parse().unwrap();
    let verification = |n: u32| format!("ver_0192f0c1a0007000800000000000{n:04}").parse().unwrap();
    let keys = keys(1);
    let codes: std::collections::BTreeSet<_> = (0..1000)
        .map(|n| keys.code(user, verification(n / 10), n % 10).to_string())
        .inspect(|code| assert!(code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit())))
        .collect();
    // Of a thousand codes out of a million, one pair in two is expected to be equal.
    assert!(codes.len() > 990, "{}", codes.len());
    assert_eq!(keys.code(user, verification(1), 0), keys.code(user, verification(1), 0));
    assert_ne!(keys.code(user, verification(1), 0), self::keys(2).code(user, verification(1), 0));
}

#[test]
fn a_reset_token_names_its_verification_and_cannot_be_forged() {
    let user = "usr_0192f0c1a0007000800000000000000a".parse().unwrap();
    let verification = "ver_0192f0c1a00070008000000000000001".parse().unwrap();
    let token = keys(1).reset_token(user, verification);
    let read = keys(1).read_reset_token(token.as_str()).unwrap();
    assert_eq!((read.user, read.verification), (user, verification));
    let other = token.as_str().replacen("000a.", "000b.", 1);
    for forged in
        [other.as_str(), "", "..", "usr_1.ver_1.AAAA", keys(2).reset_token(user, verification).as_str()]
    {
        assert!(keys(1).read_reset_token(forged).is_none(), "{forged}");
    }
}

#[test]
fn a_forged_refresh_token_is_not_read() {
    let token = keys(1).refresh_token(session(), 3);
    let later = token.as_str().replacen(".3.", ".4.", 1);
    for forged in [later.as_str(), "", "...", "ses_x.0.AAAA", keys(2).refresh_token(session(), 3).as_str()] {
        assert!(keys(1).read_refresh_token(forged).is_none(), "{forged}");
    }
}

#[test]
fn an_idempotency_key_is_scoped_to_caller_method_and_path() {
    let keys = keys(1);
    let base = keys.idempotency("usr_1", "POST", "/v1/a", "k", b"{}");
    assert_eq!(base, keys.idempotency("usr_1", "POST", "/v1/a", "k", b"{}"));
    assert_eq!(base.key, keys.idempotency("usr_1", "POST", "/v1/a", "k", b"[]").key);
    assert_ne!(base.fingerprint, keys.idempotency("usr_1", "POST", "/v1/a", "k", b"[]").fingerprint);
    for other in [
        keys.idempotency("usr_2", "POST", "/v1/a", "k", b"{}"),
        keys.idempotency("usr_1", "PUT", "/v1/a", "k", b"{}"),
        keys.idempotency("usr_1", "POST", "/v1/b", "k", b"{}"),
        keys.idempotency("usr_1", "POST", "/v1/a", "l", b"{}"),
    ] {
        assert_ne!(base.key, other.key);
    }
}
