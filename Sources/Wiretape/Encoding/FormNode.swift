/// A place in a tree that an `Encodable` value is writing into.
///
/// A class, since containers of one value share it; it never leaves the call that encodes.
final class FormNode {
    private enum Content {
        /// Nothing written, or nil that is left out.
        case nothing
        case leaf(FormLeaf)
        case array([FormNode])
        case object(members: [(name: String, node: FormNode)], index: [String: Int])
    }

    private var content = Content.nothing

    var value: FormValue? {
        switch self.content {
        case .nothing: nil
        case .leaf(let leaf): .leaf(leaf)
        case .array(let nodes): .array(nodes.compactMap(\.value))
        case .object(let members, _):
            .object(members.compactMap { member in member.node.value.map { FormValue.Member(name: member.name, value: $0) } })
        }
    }

    var count: Int {
        guard case .array(let nodes) = self.content else { return 0 }
        return nodes.count
    }

    func set(_ leaf: FormLeaf?) { self.content = leaf.map { .leaf($0) } ?? .nothing }

    /// Members that are there stay: a class and its superclass may write one object.
    func becomeObject() {
        guard case .object = self.content else { return self.content = .object(members: [], index: [:]) }
    }

    func becomeArray() {
        guard case .array = self.content else { return self.content = .array([]) }
    }

    /// The node of that name: the one that is there, or a new one at the end.
    func member(_ name: String) -> FormNode {
        guard case .object(var members, var index) = self.content else { return FormNode() }
        if let known = index[name] { return members[known].node }
        self.content = .nothing
        let node = FormNode()
        index[name] = members.count
        members.append((name, node))
        self.content = .object(members: members, index: index)
        return node
    }

    func appendElement() -> FormNode {
        guard case .array(var nodes) = self.content else { return FormNode() }
        self.content = .nothing
        let node = FormNode()
        nodes.append(node)
        self.content = .array(nodes)
        return node
    }
}
