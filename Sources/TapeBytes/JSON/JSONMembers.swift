/// The members of an object, in order.
public struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    let document: JSONDocument
    var index: Int
    let end: Int

    public mutating func next() -> (name: JSONValue, value: JSONValue)? {
        guard self.index < self.end else { return nil }
        let name = JSONValue(document: self.document, index: self.index)
        let value = JSONValue(document: self.document, index: self.index + 1)
        self.index = Int(self.document.nodes[self.index + 1].next)
        return (name, value)
    }
}
