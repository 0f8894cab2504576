//! [`Generators`]: which generator answers, kept alive between questions.

use std::path::PathBuf;

use super::endpoint::{Address, EndpointGenerator};
use super::extractive::EXTRACTIVE;
use super::llama::LlamaGenerator;
use super::{GenerateError, Generator};
use crate::models::{self, Catalogue, GeneratorModel};

/// The generators of a models folder; at most one is loaded.
pub struct Generators {
    models_dir: PathBuf,
    worker_binary: Option<PathBuf>,
    use_gpu: bool,
    loaded: Option<LlamaGenerator>,
    endpoint: Option<EndpointGenerator>,
}

impl Generators {
    /// Over the models in `models_dir`, run by `worker_binary` (the running program if `None`).
    pub fn new(models_dir: PathBuf, worker_binary: Option<PathBuf>) -> Self {
        Self { models_dir, worker_binary, use_gpu: true, loaded: None, endpoint: None }
    }

    /// See [`LlamaGenerator::with_gpu`].
    #[must_use]
    pub fn with_gpu(self, use_gpu: bool) -> Self {
        Self { use_gpu, ..self }
    }

    /// The generator of that name or address, or the best one installed; `None` stands for the extractive answer. Nothing is
    /// loaded yet.
    ///
    /// # Errors
    /// No model of that name is installed.
    pub fn pick(&mut self, name: Option<&str>) -> Result<Option<&mut dyn Generator>, GenerateError> {
        if name == Some(EXTRACTIVE) || (name.is_none() && cfg!(not(feature = "llama"))) {
            return Ok(None);
        }
        if let Some(address) = name.filter(|name| Address::is_address(name)) {
            // The memory of a model that does not answer is worth more than its start.
            self.loaded = None;
            self.endpoint = Some(EndpointGenerator::new(address)?);
            return Ok(self.endpoint.as_mut().map(|endpoint| endpoint as &mut dyn Generator));
        }
        let Some(model) = self.choose(name)? else {
            return Ok(None);
        };
        let is_loaded = self.loaded.as_ref().is_some_and(|loaded| *loaded.model() == model);
        if !is_loaded {
            self.loaded = Some(LlamaGenerator::new(model, self.worker_binary.clone()).with_gpu(self.use_gpu));
        }
        Ok(self.loaded.as_mut().map(|loaded| loaded as &mut dyn Generator))
    }

    /// Ends the process of the model of that name, if it is the one that is loaded.
    pub fn unload(&mut self, name: &str) {
        self.loaded.take_if(|loaded| loaded.model().name == name);
    }

    fn choose(&self, name: Option<&str>) -> Result<Option<GeneratorModel>, GenerateError> {
        let catalogue = Catalogue::built_in().map_err(|err| GenerateError::Load(err.to_string()))?;
        let installed = models::generators(&catalogue, &self.models_dir);
        let Some(name) = name else {
            return Ok(installed.into_iter().find(|model| model.rank.is_some()));
        };
        let names: Vec<String> = installed.iter().map(|model| model.name.clone()).collect();
        let found = installed.into_iter().find(|model| model.name == name);
        found.map(Some).ok_or_else(|| {
            GenerateError::Load(format!(
                "there is no generator named {name:?} in {}; installed are {EXTRACTIVE}{}{}",
                self.models_dir.display(),
                if names.is_empty() { "" } else { ", " },
                names.join(", ")
            ))
        })
    }
}
