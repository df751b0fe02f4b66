internal import TapeBytes
internal import TapeProxy
internal import TapeYAML
internal import TrafficRules

/// A value of a configuration file, YAML or JSON, with its line.
///
/// All scalars are text: each setting interprets `none` or `30d` itself.
struct ConfigNode: Hashable {
    enum Content: Hashable {
        /// `null`, `~`, or nothing after the colon.
        case nothing
        case text(String)
        case list([ConfigNode])
        case members([Member])
    }

    struct Member: Hashable {
        var name: String
        var line: Int
        var value: ConfigNode
    }

    /// Counted from 1.
    var line: Int
    var content: Content
    /// Whether a text was written as a string: in quotes in YAML, or as a string of JSON.
    var isString = false

    /// The most values in a file, counting each use of an alias: a configuration has some dozens, and aliases of aliases would exhaust
    /// memory.
    static let limit = 10_000
    /// A configuration has three levels.
    static let depthLimit = 16

    /// - Parameter file: the name for errors.
    static func json(_ bytes: [UInt8], file: String) throws(SettingError) -> ConfigNode {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw SettingError("\"\(file)\" line \(error.line): \(error.reason): correct it.")
        }
        var reading = Reading(file: file)
        return try reading.node(document.root, depth: 0)
    }

    /// - Parameter file: the name for errors.
    static func yaml(_ bytes: [UInt8], file: String) throws(SettingError) -> ConfigNode {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { throw SettingError("\"\(file)\" is not UTF-8: save it as UTF-8.") }
        var reading = try YAMLReading(bytes, file: file)
        return try reading.root()
    }

    /// Converts the values of one file and counts them.
    private struct Reading {
        let file: String
        var count = 0

        mutating func enter(line: Int, depth: Int) throws(SettingError) {
            self.count += 1
            guard self.count <= ConfigNode.limit else {
                throw SettingError("\"\(self.file)\" has more than \(ConfigNode.limit) values, aliases included: remove some.")
            }
            guard depth <= ConfigNode.depthLimit else {
                throw SettingError(
                    "\"\(self.file)\" line \(line): nested more than \(ConfigNode.depthLimit) levels deep, as no setting is: correct it.")
            }
        }

        mutating func node(_ value: JSONValue, depth: Int) throws(SettingError) -> ConfigNode {
            let line = value.line
            try self.enter(line: line, depth: depth)
            switch value.kind {
            case .null: return ConfigNode(line: line, content: .nothing)
            case .true, .false, .number: return ConfigNode(line: line, content: .text(String(decoding: value.raw, as: UTF8.self)))
            case .string:
                guard let text = value.string else {
                    throw SettingError("\"\(self.file)\" line \(line): half of a surrogate pair is not text: correct it.")
                }
                return ConfigNode(line: line, content: .text(text), isString: true)
            case .array:
                var list: [ConfigNode] = []
                for element in value.elements { list.append(try self.node(element, depth: depth + 1)) }
                return ConfigNode(line: line, content: .list(list))
            case .object:
                var members: [Member] = []
                var seen: Set<String> = []
                for member in value.members {
                    let name = member.name.string ?? ""
                    guard seen.insert(name).inserted else {
                        throw SettingError("\"\(self.file)\" line \(member.name.line): \"\(name)\" appears twice: remove one of them.")
                    }
                    members.append(Member(name: name, line: member.name.line, value: try self.node(member.value, depth: depth + 1)))
                }
                return ConfigNode(line: line, content: .members(members))
            }
        }
    }

    /// Converts the one document of a YAML text.
    private struct YAMLReading: ~Copyable {
        private let file: String
        private var events: YAMLEvents
        private var reading: Reading
        private var anchors: [String: ConfigNode] = [:]

        init(_ bytes: [UInt8], file: String) throws(SettingError) {
            self.file = file
            self.reading = Reading(file: file)
            do {
                self.events = try YAMLEvents(bytes)
            } catch {
                throw Self.error(error, file)
            }
        }

        mutating func root() throws(SettingError) -> ConfigNode {
            guard case .documentStart = try self.next().event else { return ConfigNode(line: 1, content: .nothing) }
            let root = try self.node(self.next(), depth: 0)
            let end = try self.next()
            guard case .end = end.event else {
                throw SettingError("\"\(self.file)\" line \(end.line): a second document begins: keep one of them.")
            }
            return root
        }

        private mutating func node(_ start: (event: YAMLEvents.Event, line: Int), depth: Int) throws(SettingError) -> ConfigNode {
            let line = start.line
            try self.reading.enter(line: line, depth: depth)
            let node: ConfigNode
            let name: String?
            switch start.event {
            case .scalar(let text, let isPlain, let properties):
                let isNothing = isPlain && ["", "~", "null"].contains(text)
                (node, name) = (
                    ConfigNode(line: line, content: isNothing ? .nothing : .text(text), isString: !isPlain), properties.anchor
                )
            case .sequenceStart(let properties):
                (node, name) = (ConfigNode(line: line, content: .list(try self.elements(depth))), properties.anchor)
            case .mappingStart(let properties):
                (node, name) = (ConfigNode(line: line, content: .members(try self.members(depth))), properties.anchor)
            case .alias(let anchor):
                node = try self.value(of: anchor, line: line)
                try self.recount(node, depth: depth)
                name = nil
            case .documentStart, .end, .sequenceEnd, .mappingEnd:
                throw SettingError("\"\(self.file)\" line \(line): a value is missing: add it.")
            }
            if let name { self.anchors[name] = node }
            return node
        }

        private mutating func elements(_ depth: Int) throws(SettingError) -> [ConfigNode] {
            var list: [ConfigNode] = []
            while true {
                let next = try self.next()
                if case .sequenceEnd = next.event { return list }
                list.append(try self.node(next, depth: depth + 1))
            }
        }

        private mutating func members(_ depth: Int) throws(SettingError) -> [Member] {
            var members: [Member] = []
            var seen: Set<String> = []
            while true {
                let key = try self.next()
                if case .mappingEnd = key.event { return members }
                let name = try self.key(key)
                guard seen.insert(name).inserted else {
                    throw SettingError("\"\(self.file)\" line \(key.line): \"\(name)\" appears twice: remove one of them.")
                }
                members.append(Member(name: name, line: key.line, value: try self.node(self.next(), depth: depth + 1)))
            }
        }

        private mutating func key(_ key: (event: YAMLEvents.Event, line: Int)) throws(SettingError) -> String {
            switch key.event {
            case .scalar(let text, _, let properties):
                if let anchor = properties.anchor { self.anchors[anchor] = ConfigNode(line: key.line, content: .text(text)) }
                return text
            case .alias(let anchor):
                if case .text(let text) = try self.value(of: anchor, line: key.line).content { return text }
            case .documentStart, .end, .sequenceStart, .sequenceEnd, .mappingStart, .mappingEnd: break
            }
            throw SettingError("\"\(self.file)\" line \(key.line): a key is not text: correct it.")
        }

        private func value(of anchor: String, line: Int) throws(SettingError) -> ConfigNode {
            guard let node = self.anchors[anchor] else {
                throw SettingError("\"\(self.file)\" line \(line): the alias \"*\(anchor)\" has no anchor before it: correct it.")
            }
            return node
        }

        /// The values that an alias repeats count like values that are written out. The node itself has been counted.
        private mutating func recount(_ node: ConfigNode, depth: Int) throws(SettingError) {
            let inner: [ConfigNode]
            switch node.content {
            case .nothing, .text: return
            case .list(let list): inner = list
            case .members(let members): inner = members.map(\.value)
            }
            for value in inner {
                try self.reading.enter(line: value.line, depth: depth + 1)
                try self.recount(value, depth: depth + 1)
            }
        }

        private mutating func next() throws(SettingError) -> (event: YAMLEvents.Event, line: Int) {
            do {
                return try self.events.next()
            } catch {
                throw Self.error(error, self.file)
            }
        }

        private static func error(_ problem: YAMLEvents.Problem, _ file: String) -> SettingError {
            SettingError("\"\(file)\"\(problem.line.map { " line \($0)" } ?? ""): \(problem.reason): correct it.")
        }
    }
}

extension ConfigNode {
    /// The same value, for traffic rules.
    var ruleNode: RuleNode {
        let content: RuleNode.Content =
            switch self.content {
            case .nothing: .nothing
            case .text(let text): .text(text)
            case .list(let list): .list(list.map(\.ruleNode))
            case .members(let members):
                .members(members.map { RuleNode.Member(name: $0.name, line: $0.line, value: $0.value.ruleNode) })
            }
        return RuleNode(line: self.line, content: content, isString: self.isString)
    }
}
