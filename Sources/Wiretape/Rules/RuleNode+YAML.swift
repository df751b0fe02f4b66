#if canImport(TapeYAML)
internal import TapeBytes
internal import TapeYAML
internal import TrafficRules

extension RuleNode {
    /// More values are not a list of rules.
    private static let valueLimit = 10_000
    private static let depthLimit = 16

    /// The one document of a YAML text, without anchors and aliases.
    ///
    /// - Parameter path: for errors.
    init(yaml bytes: [UInt8], path: String) throws(SettingSyntaxError) {
        var count = 0
        do throws(YAMLEvents.Problem) {
            var events = try YAMLEvents(bytes)
            guard case .documentStart = try events.next().event else {
                self.init(line: 1, content: .nothing)
                return
            }
            self = try Self.node(try events.next(), &events, &count, depth: 0)
        } catch {
            throw SettingSyntaxError("\"\(path)\"\(error.line.map { " line \($0)" } ?? ""): \(error.reason): correct it")
        }
    }

    private static func node(
        _ start: (event: YAMLEvents.Event, line: Int), _ events: inout YAMLEvents, _ count: inout Int, depth: Int
    ) throws(YAMLEvents.Problem) -> RuleNode {
        func problem(_ reason: String) -> YAMLEvents.Problem { YAMLEvents.Problem(line: start.line, reason: reason) }
        count += 1
        guard count <= self.valueLimit, depth <= self.depthLimit else { throw problem("there are too many values for a list of rules") }
        switch start.event {
        case .scalar(let text, let isPlain, _):
            let isNothing = isPlain && ["", "~", "null"].contains(text)
            return RuleNode(line: start.line, content: isNothing ? .nothing : .text(text), isString: !isPlain)
        case .sequenceStart:
            var list: [RuleNode] = []
            while true {
                let next = try events.next()
                if case .sequenceEnd = next.event { return RuleNode(line: start.line, content: .list(list)) }
                list.append(try self.node(next, &events, &count, depth: depth + 1))
            }
        case .mappingStart:
            var members: [Member] = []
            var names: Set<String> = []
            while true {
                let key = try events.next()
                if case .mappingEnd = key.event { return RuleNode(line: start.line, content: .members(members)) }
                guard case .scalar(let name, _, _) = key.event else {
                    throw YAMLEvents.Problem(line: key.line, reason: "a name is not a text")
                }
                guard names.insert(name).inserted else {
                    throw YAMLEvents.Problem(line: key.line, reason: "\"\(name)\" appears twice")
                }
                members.append(
                    Member(name: name, line: key.line, value: try self.node(try events.next(), &events, &count, depth: depth + 1)))
            }
        case .alias: throw problem("aliases are not read here: write the value out")
        case .documentStart, .end, .sequenceEnd, .mappingEnd: throw problem("a value is missing")
        }
    }
}
#endif
