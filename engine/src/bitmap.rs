//! One bit per row.

/// A set of rows. Rows past its length are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowBitmap {
    words: Vec<u64>,
    num_set: u64,
}

impl RowBitmap {
    /// The empty set with room for `num_rows` rows.
    pub(crate) fn with_rows(num_rows: u64) -> Self {
        Self { words: vec![0; num_rows.div_ceil(64) as usize], num_set: 0 }
    }

    /// A set from its words.
    pub(crate) fn from_words(words: Vec<u64>) -> Self {
        let num_set = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Self { words, num_set }
    }

    /// The words, 64 rows each, lowest bit first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Grows to hold `num_rows` rows.
    pub(crate) fn grow(&mut self, num_rows: u64) {
        let words = num_rows.div_ceil(64) as usize;
        self.words.resize(words.max(self.words.len()), 0);
    }

    /// Adds a row; false if it was in already or lies past the end.
    pub(crate) fn insert(&mut self, row: u64) -> bool {
        let Some(word) = self.words.get_mut((row / 64) as usize) else {
            return false;
        };
        let bit = 1 << (row % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.num_set += u64::from(is_new);
        is_new
    }

    /// Whether a row is in.
    pub(crate) fn contains(&self, row: u64) -> bool {
        self.words.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Rows in the set.
    pub(crate) fn num_set(&self) -> u64 {
        self.num_set
    }
}
