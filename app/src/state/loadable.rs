//! [`Loadable`]: a value that a job computes, with its previous value kept visible meanwhile.

use crate::library::Error;

/// A value that arrives from a job.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Loadable<T> {
    /// Nobody asked for it yet.
    #[default]
    Idle,
    /// On its way; the previous value stays visible.
    Pending {
        /// The value before.
        previous: Option<T>,
    },
    /// Here.
    Ready(T),
    /// Did not arrive.
    Failed {
        /// Why.
        error: Error,
        /// The value before.
        previous: Option<T>,
    },
}

impl<T> Loadable<T> {
    /// The newest value there is, even while another is on its way.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Pending { previous } | Self::Failed { previous, .. } => previous.as_ref(),
        }
    }

    /// The newest value, to be changed in place.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Pending { previous } | Self::Failed { previous, .. } => previous.as_mut(),
        }
    }

    /// Why the newest attempt gave nothing.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Whether a value is on its way.
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Pending { .. })
    }

    /// Gives up on the value that is on its way; the one before stays.
    pub fn stop(&mut self) {
        if let Self::Pending { previous } = self {
            *self = previous.take().map_or(Self::Idle, Self::Ready);
        }
    }

    /// Marks a new value as on its way, keeping the one there is.
    pub fn start(&mut self) {
        let previous = self.take();
        *self = Self::Pending { previous };
    }

    /// Shows a first value while the one that was asked for is still on its way.
    pub fn preview(&mut self, value: T) {
        if self.is_pending() {
            *self = Self::Pending { previous: Some(value) };
        }
    }

    /// Takes the outcome of a job; a failure keeps the value before.
    pub fn finish(&mut self, outcome: Result<T, Error>) {
        *self = match outcome {
            Ok(value) => Self::Ready(value),
            Err(error) => Self::Failed { error, previous: self.take() },
        };
    }

    fn take(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Self::Idle => None,
            Self::Ready(value) => Some(value),
            Self::Pending { previous } | Self::Failed { previous, .. } => previous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Error {
        Error { title: "No".to_owned(), detail: "it failed".to_owned(), hint: None }
    }

    #[test]
    fn the_old_value_stays_visible_until_a_new_one_is_there() {
        let mut value = Loadable::default();
        assert_eq!(value.value(), None::<&i32>);
        value.start();
        assert!(value.is_pending());
        value.finish(Ok(1));
        value.start();
        assert_eq!(value.value(), Some(&1));
        value.finish(Err(failure()));
        assert_eq!((value.value(), value.error()), (Some(&1), Some(&failure())));
        value.start();
        value.preview(3);
        assert!(value.is_pending() && value.value() == Some(&3));
        value.finish(Ok(2));
        value.preview(4);
        assert_eq!(value, Loadable::Ready(2));
    }
}
