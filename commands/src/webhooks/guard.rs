//! Which machines may be called. A webhook's address is somebody's word; the bank's own network must not be reachable by it.
//!
//! A name is looked up once for each connection, what it stands for is checked, and the connection goes to what was
//! checked: a name that stands for something else a moment later changes nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Asks what a name stands for.
pub trait Lookup: Send + Sync {
    /// The machines of that name.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// The system's own resolver.
#[derive(Debug, Clone, Copy)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }.boxed()
    }
}

/// The machine is not one that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the address is not a public one")]
pub(super) struct Blocked;

/// Lets connections go to public machines only.
#[derive(Clone)]
pub(super) struct Guard {
    lookup: Arc<dyn Lookup>,
    private_too: bool,
}

impl Guard {
    pub(super) fn new(lookup: Arc<dyn Lookup>, private_too: bool) -> Self {
        Self { lookup, private_too }
    }

    fn admits(&self, address: IpAddr) -> bool {
        self.private_too || is_public(address)
    }

    /// Whether an address whose host is a number may be called; names are checked when they are looked up.
    pub(super) fn admits_literal(&self, url: &Url) -> bool {
        // An IPv6 host is written in brackets.
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host.parse().map_or(true, |address| self.admits(address))
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        let found = this.lookup.lookup(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            // A name that stands for both kinds is up to something.
            if found.is_empty() || !found.iter().all(|address| this.admits(address.ip())) {
                return Err(Blocked.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of the Internet's own, and of nobody's network (IANA special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

const fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Global unicast is 2000::/3, less what is documentation, and less what carries an IPv4 address to who knows where. All
/// else (loopback, mapped IPv4, NAT64, link-local, unique local, multicast) is outside of it.
const fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    a & 0xe000 == 0x2000
        && !matches!((a, b), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn addresses_of_nobodys_network_are_called_and_no_others() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2a00:1450:4001::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for blocked in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "4000::1",
        ] {
            assert!(!is_public(blocked.parse().unwrap()), "{blocked}");
        }
    }

    #[test]
    fn numbers_in_disguise_are_numbers() {
        let guard = Guard::new(Arc::new(SystemLookup), false);
        for blocked in [
            "http://127.0.0.1",
            "http://2130706433",
            "http://0x7f.1",
            "http://0177.0.0.1",
            "http://127.1",
            "http://[::1]",
            "http://[::ffff:10.0.0.1]",
            "http://169.254.169.254/latest",
        ] {
            assert!(!guard.admits_literal(&Url::parse(blocked).unwrap()), "{blocked}");
        }
        assert!(guard.admits_literal(&Url::parse("https://1.1.1.1").unwrap()));
        assert!(guard.admits_literal(&Url::parse("https://example.com").unwrap()));
    }

    /// Stands for one machine at first, and for the bank's own afterwards.
    struct Rebinding(Mutex<Vec<&'static str>>);

    impl Lookup for Rebinding {
        fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
            let next = self.0.lock().unwrap().pop().expect("looked up once too often");
            async move { Ok(vec![SocketAddr::new(next.parse().unwrap(), 0)]) }.boxed()
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_up_once_and_the_answer_is_what_is_called() {
        let guard = Guard::new(Arc::new(Rebinding(Mutex::new(vec!["127.0.0.1", "1.1.1.1"]))), false);
        let name = || "example.com".parse::<Name>().unwrap();
        let first: Vec<_> =
            guard.resolve(name()).await.unwrap().map(|address| address.ip().to_string()).collect();
        assert_eq!(first, ["1.1.1.1"]);
        assert!(guard.resolve(name()).await.is_err());
    }
}
