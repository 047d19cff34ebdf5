//! A ledger of accounts.
use std::collections::HashMap;
use std::fmt::{self, Display};

pub const LIMIT: u64 = 1_000;

/// What can go wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum LedgerError {
    Unknown(String),
    TooMuch { wanted: u64, limit: u64 },
}

#[derive(Default)]
pub struct Ledger<'a, S: Store = MemoryStore> {
    store: S,
    names: HashMap<&'a str, u64>,
}

pub struct Amount(pub u64);

struct Marker;

#[repr(C)]
pub union Word {
    bytes: [u8; 8],
    number: u64,
}

pub trait Store {
    const KIND: &'static str;
    type Key: Clone;

    fn read(&self, key: &Self::Key) -> Option<u64>;

    fn exists(&self, key: &Self::Key) -> bool {
        self.read(key).is_some()
    }
}

impl<'a, S: Store> Ledger<'a, S> {
    pub fn new(store: S) -> Self {
        Ledger { store, names: HashMap::new() }
    }

    #[inline]
    #[must_use]
    pub async fn transfer(
        &mut self,
        from: &'a str, // pays
        to: &'a str,
        amount: Amount,
    ) -> Result<u64, LedgerError>
    where
        S: Send,
    {
        fn checked(amount: &Amount) -> Result<u64, LedgerError> {
            if amount.0 > LIMIT {
                return Err(LedgerError::TooMuch { wanted: amount.0, limit: LIMIT });
            }
            Ok(amount.0)
        }
        let sum = checked(&amount)?;
        *self.names.entry(from).or_insert(0) -= sum;
        *self.names.entry(to).or_insert(0) += sum;
        Ok(sum)
    }
}

impl Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Unknown(name) => write!(f, "unknown: {name}"),
            LedgerError::TooMuch { wanted, .. } => write!(f, "too much: {wanted}"),
        }
    }
}

impl From<u64> for Amount {
    fn from(value: u64) -> Self {
        Amount(value)
    }
}

impl From<Amount> for u64 {
    fn from(amount: Amount) -> u64 {
        amount.0
    }
}

unsafe impl Send for crate::ledger::Marker {}

macro_rules! amounts {
    ($($value:expr),*) => {
        vec![$(Amount($value)),*]
    };
}

extern "C" {
    fn native_time(out: *mut u64) -> i32;
}

pub mod audit {
    pub mod log {
        pub struct Line {
            pub text: String,
        }

        impl Line {
            pub const fn len(&self) -> usize {
                0
            }
        }
    }

    pub(crate) fn sign(line: &log::Line) -> u8 {
        let parity = |n: usize| (n % 2) as u8;
        parity(line.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_move_money() {
        assert_eq!(amounts![1, 2].len(), 2);
    }
}
