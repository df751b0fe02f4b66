import CassetteModel
import TapeBytes
import TapeYAML
@testable import TrafficRules

/// Rules and requests as tests write them.
enum RulesText {
    static func node(_ yaml: String) throws -> RuleNode {
        var events = try YAMLEvents(Array(yaml.utf8))
        var event = try events.next()
        if case .documentStart = event.event { event = try events.next() }
        return try self.node(event, &events)
    }

    private static func node(_ start: (event: YAMLEvents.Event, line: Int), _ events: inout YAMLEvents) throws -> RuleNode {
        switch start.event {
        case .scalar(let text, let isPlain, _):
            let isNothing = isPlain && ["", "~", "null"].contains(text)
            return RuleNode(line: start.line, content: isNothing ? .nothing : .text(text), isString: !isPlain)
        case .sequenceStart:
            var list: [RuleNode] = []
            while true {
                let next = try events.next()
                if case .sequenceEnd = next.event { return RuleNode(line: start.line, content: .list(list)) }
                list.append(try self.node(next, &events))
            }
        case .mappingStart:
            var members: [RuleNode.Member] = []
            while true {
                let key = try events.next()
                guard case .scalar(let name, _, _) = key.event else { return RuleNode(line: start.line, content: .members(members)) }
                members.append(RuleNode.Member(name: name, line: key.line, value: try self.node(events.next(), &events)))
            }
        case .documentStart, .end, .sequenceEnd, .mappingEnd, .alias: return RuleNode(line: start.line, content: .nothing)
        }
    }

    static func rules(_ yaml: String, folder: String? = nil, seed: UInt64? = nil) throws -> TrafficRules {
        try TrafficRules([RuleList(node: try self.node(yaml), file: "wiretape.yaml", folder: folder, seed: seed)])
    }

    static func engine(_ yaml: String, folder: String? = nil, seed: UInt64 = 0) throws -> RuleEngine {
        RuleEngine(try self.rules(yaml, folder: folder), seed: seed)
    }

    /// The message of the error that the rules make; nil if they are read.
    static func problem(_ yaml: String, folder: String? = nil) throws -> String? {
        do {
            _ = try self.rules(yaml, folder: folder)
            return nil
        } catch let error as SettingSyntaxError {
            return error.message
        }
    }
}

extension RequestFacts {
    static func get(_ url: String, _ headers: [String] = []) -> RequestFacts {
        RequestFacts(method: "GET", url: url, headers: HeaderFields(headers))
    }

    static func post(_ url: String, _ body: String, type: String = "application/json") -> RequestFacts {
        RequestFacts(method: "POST", url: url, headers: HeaderFields(["Content-Type: \(type)"]), body: Array(body.utf8))
    }
}
