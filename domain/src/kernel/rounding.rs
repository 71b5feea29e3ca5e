//! Rounding half to even, once, after everything is multiplied.

use rust_decimal::Decimal;

/// `numerator / denominator` to the nearest whole number; a half goes to the even one. None when the denominator is not
/// positive.
#[must_use]
pub fn half_even(numerator: i128, denominator: i128) -> Option<i128> {
    if denominator <= 0 {
        return None;
    }
    let (below, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    // Twice the rest against the denominator, without doubling.
    let up = match rest.cmp(&(denominator - rest)) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => below % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    Some(below + i128::from(up))
}

/// A decimal as a fraction of whole numbers, the denominator a power of ten: 9.4822 is 94822 / 10000.
#[must_use]
pub fn fraction(decimal: Decimal) -> (i128, i128) {
    let decimal = decimal.normalize();
    // A decimal has at most 28 places, and 10^28 fits.
    (decimal.mantissa(), 10_i128.pow(decimal.scale().min(28)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_goes_to_the_even_neighbour() {
        for (numerator, expected) in [
            (5, 0),
            (15, 2),
            (25, 2),
            (35, 4),
            (14, 1),
            (16, 2),
            (-5, 0),
            (-15, -2),
            (-25, -2),
            (-16, -2),
            (0, 0),
        ] {
            assert_eq!(half_even(numerator, 10), Some(expected), "{numerator}/10");
        }
        assert_eq!(half_even(1, 0), None);
        assert_eq!(half_even(i128::MAX, 1), Some(i128::MAX));
    }

    #[test]
    fn a_rate_is_a_fraction() {
        assert_eq!(fraction("9.4822".parse().unwrap()), (94_822, 10_000));
        assert_eq!(fraction("12.00".parse().unwrap()), (12, 1));
    }
}
