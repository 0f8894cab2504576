//! Small ONNX models with known arithmetic, written as the protocol buffers that ONNX Runtime reads.

/// A message of protocol buffers in the making.
#[derive(Clone, Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn number(self, field: u64, value: u64) -> Self {
        self.varint(field << 3).varint(value)
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        message.0.extend_from_slice(bytes);
        message
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn part(self, field: u64, part: Message) -> Self {
        self.bytes(field, &part.0)
    }
}

const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A graph of operators in the making. Inputs are tensors of `rows × tokens`.
#[derive(Clone, Debug, Default)]
pub struct OnnxGraph(Message);

impl OnnxGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self(Message::default().text(2, "test"))
    }

    /// An input of whole numbers.
    #[must_use]
    pub fn input(self, name: &str) -> Self {
        let of = |name: &str| Message::default().text(2, name);
        let shape = Message::default().part(1, of("rows")).part(1, of("tokens"));
        Self(self.0.part(11, value(name, INT64, Some(shape))))
    }

    /// A tensor of constants.
    #[must_use]
    pub fn constant(self, name: &str, shape: &[usize], values: &[f32]) -> Self {
        let tensor = shape.iter().fold(Message::default(), |tensor, size| tensor.number(1, *size as u64));
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self(self.0.part(5, tensor.number(2, FLOAT).text(8, name).bytes(9, &raw)))
    }

    /// An operator: its name, its inputs and its output.
    #[must_use]
    pub fn node(self, operator: &str, inputs: &[&str], output: &str) -> Self {
        self.node_with(operator, inputs, output, &[])
    }

    /// An operator with attributes: a list of whole numbers, or one alone where its name ends in `=`.
    #[must_use]
    pub fn node_with(self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, &[u64])]) -> Self {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(4, operator);
        let attribute = |(name, numbers): &(&str, &[u64])| match name.strip_suffix('=') {
            Some(name) => Message::default().text(1, name).number(3, numbers[0]).number(20, 2),
            None => numbers
                .iter()
                .fold(Message::default().text(1, name), |attribute, number| attribute.number(8, *number))
                .number(20, 7),
        };
        Self(self.0.part(1, attributes.iter().fold(node, |node, one| node.part(5, attribute(one)))))
    }

    /// The sum over the second axis, which stays with size 1; over both axes with `of_all`.
    #[must_use]
    pub fn sum(self, input: &str, output: &str, of_all: bool) -> Self {
        let axes: &[u64] = if of_all { &[0, 1] } else { &[1] };
        self.node_with("ReduceSum", &[input], output, &[("axes", axes), ("keepdims=", &[1])])
    }

    /// The whole model, whose output has that name.
    pub fn model(self, output: &str) -> Vec<u8> {
        let graph = self.0.part(12, value(output, FLOAT, None));
        let version = Message::default().text(1, "").number(2, 11);
        Message::default().number(1, 6).part(7, graph).part(8, version).0
    }
}

fn value(name: &str, kind: u64, shape: Option<Message>) -> Message {
    let tensor = Message::default().number(1, kind);
    let tensor = shape.into_iter().fold(tensor, |tensor, shape| tensor.part(2, shape));
    Message::default().text(1, name).part(2, Message::default().part(1, tensor))
}
