use super::*;

#[test]
fn only_names_inside_a_zone_are_certified() {
    let zones = ["devices.example".to_owned()];
    let own = device_uri("Ada's phone");
    assert_eq!(own, "urn:bursar:device:Ada%27s%20phone");
    let names = |wanted: &[&str], zones| dns_names(wanted.iter().copied(), &own, zones);
    let good = names(&["DNS:A.devices.example", "devices.example", &own, &format!("URI:{own}")], &zones);
    assert_eq!(good, Ok(["a.devices.example".to_owned(), "devices.example".to_owned()].into()));
    for foreign in [
        "DNS:bank.example",
        "DNS:evildevices.example",
        "DNS:*.devices.example",
        "DNS:.devices.example",
        "DNS:a..devices.example",
        "IP:10.0.0.1",
        "10.0.0.1",
        "URI:urn:bursar:device:other",
        "email:ada@devices.example",
        "DNS:a.devices.example\0.evil.example",
        "",
    ] {
        assert_eq!(names(&[foreign], &zones), Err(NotCertified::ForeignName), "{foreign}");
    }
    assert_eq!(names(&["DNS:a.devices.example"], &[]), Err(NotCertified::ForeignName));
}

#[test]
fn a_curve_only_signs_and_a_server_has_a_name() {
    let usages = |usages: &[KeyUsage]| usages.iter().copied().collect();
    let purposes = |purposes: &[ExtendedKeyUsage]| purposes.iter().copied().collect();
    let least = profile(KeyKind::Ec, usages(&[]), purposes(&[]), BTreeSet::new()).unwrap();
    assert_eq!(least.key_usage, [KeyUsage::DigitalSignature].into());
    assert_eq!(least.extended_key_usage, [ExtendedKeyUsage::ClientAuth].into());
    let wraps = usages(&[KeyUsage::KeyEncipherment]);
    assert_eq!(profile(KeyKind::Ec, wraps, purposes(&[]), BTreeSet::new()), Err(NotCertified::Usage));
    let wraps = usages(&[KeyUsage::KeyEncipherment]);
    assert_eq!(profile(KeyKind::Rsa, wraps, purposes(&[]), BTreeSet::new()).unwrap().key_usage.len(), 2);
    let serves = || purposes(&[ExtendedKeyUsage::ServerAuth]);
    let refused = profile(KeyKind::Ec, usages(&[]), serves(), BTreeSet::new());
    assert_eq!(refused, Err(NotCertified::NoServer));
    assert!(profile(KeyKind::Ec, usages(&[]), serves(), ["a.example".to_owned()].into()).is_ok());
}

#[test]
fn what_is_no_request_is_not_read() {
    let (key, good) = NewKey::P256.draw("phone", &Default::default()).unwrap();
    assert_eq!(ReadRequest::parse(&good.content).unwrap().kind, KeyKind::Ec);
    let twice = format!("{}{}", good.content, good.content);
    let wrong_label = good.content.replace("CERTIFICATE REQUEST", "CERTIFICATE");
    for bad in ["", "hello", &key, &twice, &wrong_label] {
        assert_eq!(ReadRequest::parse(bad).unwrap_err(), NotCertified::Malformed);
    }
    assert_eq!(NewKey::of(KeyKind::Rsa, Some(2048)), Err(NotCertified::WeakKey));
    assert_eq!(NewKey::of(KeyKind::Ec, Some(384)), Err(NotCertified::WeakKey));
}

#[test]
fn a_request_that_its_key_did_not_sign_is_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let (_, good) = NewKey::P256.draw("phone", &Default::default()).unwrap();
    let lines = good.content.lines().filter(|line| !line.starts_with("-----"));
    let mut der = STANDARD.decode(lines.collect::<String>()).unwrap();
    // A letter of the subject.
    let at = der.windows(5).position(|bytes| bytes == b"phone").unwrap();
    der[at] = b'P';
    let forged = format!(
        "-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----\n",
        STANDARD.encode(der)
    );
    assert_eq!(ReadRequest::parse(&forged).unwrap_err(), NotCertified::BadSignature);
}
