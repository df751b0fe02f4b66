/// The elements of an array, in order.
public struct JSONElements: Sequence, IteratorProtocol, Sendable {
    let document: JSONDocument
    var index: Int
    let end: Int

    public mutating func next() -> JSONValue? {
        guard self.index < self.end else { return nil }
        let value = JSONValue(document: self.document, index: self.index)
        self.index = Int(self.document.nodes[self.index].next)
        return value
    }
}
