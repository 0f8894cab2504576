//! What "close" means, and how numbers are stored.

/// How a row is scored against a query. Higher is always better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Metric {
    /// `q·v / (‖q‖ ‖v‖)`, from -1 to 1. Rows of zeros have no direction and are left out.
    #[default]
    Cosine,
    /// `q·v`.
    Dot,
    /// `-‖q - v‖²`: the negated squared Euclidean distance.
    L2,
    /// `q·v - penalty·‖v‖`: a dot product that does not reward length alone.
    DotPenalized {
        /// Weight of the row's length; finite.
        penalty: f64,
    },
}

impl Metric {
    /// [`Metric::DotPenalized`] with its usual weight.
    pub const DOT_PENALIZED: Self = Self::DotPenalized { penalty: 0.1 };

    /// The code and the penalty that a superblock holds.
    pub(crate) fn to_header(self) -> (u32, f64) {
        match self {
            Self::Cosine => (1, 0.0),
            Self::Dot => (2, 0.0),
            Self::L2 => (3, 0.0),
            Self::DotPenalized { penalty } => (4, penalty),
        }
    }

    /// The metric of a superblock, if it is one.
    pub(crate) fn from_header(code: u32, penalty: f64) -> Option<Self> {
        match code {
            1 => Some(Self::Cosine),
            2 => Some(Self::Dot),
            3 => Some(Self::L2),
            4 if penalty.is_finite() => Some(Self::DotPenalized { penalty }),
            _ => None,
        }
    }
}

/// How a file stores the values of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats, rounded to nearest at append; scores are those of the rounded values.
    F16,
}

impl Dtype {
    /// Bytes per value.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }

    /// The code that a superblock holds.
    pub(crate) const fn to_header(self) -> u32 {
        match self {
            Self::F32 => 1,
            Self::F16 => 2,
        }
    }

    /// The type of a superblock, if it is one.
    pub(crate) const fn from_header(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::F32),
            2 => Some(Self::F16),
            _ => None,
        }
    }
}
