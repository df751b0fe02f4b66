internal import TapeBytes
internal import TapeProxy
internal import Yams

/// A value of a configuration file, be it YAML or JSON, with the line it stands on.
///
/// All scalars are text: what `none` or `30d` means is up to the setting.
struct ConfigNode: Hashable {
    enum Content: Hashable {
        /// `null`, `~`, or nothing at all behind the colon.
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

    /// From 1.
    var line: Int
    var content: Content

    /// Values in a file, those that aliases repeat counted each time: a configuration has some dozens, and aliases of aliases would fill
    /// the memory.
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
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw SettingError("\"\(file)\"\(self.words(error)): correct it.")
        }
        guard let root else { return ConfigNode(line: 1, content: .nothing) }
        var reading = Reading(file: file)
        return try reading.node(root, depth: 0)
    }

    private static func words(_ error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?, .composer(_, let problem, let mark, _)?:
            " line \(mark.line): \(problem)"
        case .duplicatedKeysInMapping(let names, let context)?:
            " line \(context.mark.line): \"\(names.sorted().first ?? "")\" is there twice"
        case .reader(let problem, _, _, _)?: ": \(problem)"
        default: ": this is no YAML"
        }
    }

    /// Takes over the values of one file and counts them.
    private struct Reading {
        let file: String
        var count = 0

        mutating func enter(line: Int, depth: Int) throws(SettingError) {
            self.count += 1
            guard self.count <= ConfigNode.limit else {
                throw SettingError("\"\(self.file)\" has more than \(ConfigNode.limit) values, aliases included: leave some out.")
            }
            guard depth <= ConfigNode.depthLimit else {
                throw SettingError("\"\(self.file)\" line \(line): nested deeper than \(ConfigNode.depthLimit): no setting is.")
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
                    throw SettingError("\"\(self.file)\" line \(line): half of a surrogate pair is no text: correct it.")
                }
                return ConfigNode(line: line, content: .text(text))
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
                        throw SettingError("\"\(self.file)\" line \(member.name.line): \"\(name)\" is there twice: correct it.")
                    }
                    members.append(Member(name: name, line: member.name.line, value: try self.node(member.value, depth: depth + 1)))
                }
                return ConfigNode(line: line, content: .members(members))
            }
        }

        mutating func node(_ value: Node, depth: Int) throws(SettingError) -> ConfigNode {
            let line = value.mark?.line ?? 1
            try self.enter(line: line, depth: depth)
            switch value {
            case .scalar(let scalar):
                let isNothing = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
                return ConfigNode(line: line, content: isNothing ? .nothing : .text(scalar.string))
            case .sequence(let sequence):
                var list: [ConfigNode] = []
                for element in sequence { list.append(try self.node(element, depth: depth + 1)) }
                return ConfigNode(line: line, content: .list(list))
            case .mapping(let mapping):
                var members: [Member] = []
                for (name, value) in mapping {
                    let nameLine = name.mark?.line ?? line
                    guard let text = name.string else {
                        throw SettingError("\"\(self.file)\" line \(nameLine): a key that is no text: no setting has one.")
                    }
                    members.append(Member(name: text, line: nameLine, value: try self.node(value, depth: depth + 1)))
                }
                return ConfigNode(line: line, content: .members(members))
            case .alias: throw SettingError("\"\(self.file)\" line \(line): an alias without its anchor: correct it.")
            }
        }
    }
}
