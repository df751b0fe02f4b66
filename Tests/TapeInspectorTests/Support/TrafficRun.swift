import CassetteModel
import CassettePlayback
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import TapeYAML
import TrafficRules

/// A run with traffic rules whose page is asked without a server.
final class TrafficRun {
    /// A settings file in memory.
    final class SettingsFile: Sendable {
        let text: Guarded<String?>
        let problem = Guarded<SettingSyntaxError?>(nil)
        init(_ text: String?) { self.text = Guarded(text) }
    }

    let folder: TemporaryFolder
    let engine: RuleEngine
    let desk = PauseDesk()
    let file: SettingsFile
    let now = Guarded(Duration.seconds(10))
    private let service: InspectorService

    /// - Parameters:
    ///   - yaml: a settings file with the rules; nil if there is none.
    ///   - more: rules of another file.
    init(
        _ yaml: String? = nil, more: String? = nil, name: String = "wiretape.yaml", sizeLimit: Int = 256 << 10,
        savesRules: Bool = true, findings: [ClientVerdict.Finding]? = nil, interactions: [Interaction] = [.sample(1)]
    ) throws {
        self.folder = try TemporaryFolder()
        try RecordedExchanges.write(interactions, to: self.folder.file("pets.json"))
        let modify = try yaml.flatMap { try SampleYAML.node($0)["modify"] }
        var lists = modify.map { [RuleList(node: $0, file: name, folder: "/folder")] } ?? []
        if let more { lists.append(RuleList(node: try SampleYAML.node(more), file: "more.yaml", folder: nil)) }
        self.engine = RuleEngine(try TrafficRules(lists))
        let file = SettingsFile(yaml)
        self.file = file
        let settings = RuleSettings(
            name: name, rules: modify, folder: "/folder", sizeLimit: sizeLimit,
            load: { file.text.withLock { $0 }.map { Array($0.utf8) } },
            replace: { bytes in
                if let problem = file.problem.withLock({ $0 }) { throw problem }
                file.text.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
            })
        let now = self.now
        self.desk.setWatched { true }
        var run = InspectedRun(
            command: "record", name: "pets.json", counts: { InspectedRun.Counts() }, report: nil, open: OpenExchanges())
        var rules = InspectedRules(
            engine: self.engine, desk: self.desk, clock: { now.withLock { $0 } }, read: Self.read, settings: savesRules ? settings : nil)
        if let findings { rules.verdict = { findings } }
        run.rules = rules
        let cassette = try InspectedCassette(path: self.folder.file("pets.json"))
        while !cassette.moment.isIndexed { _ = cassette.refresh() }
        self.service = InspectorService(cassette: cassette, run: run)
    }

    private static func read(_ text: [UInt8], _ name: String) throws -> RuleNode {
        do {
            return try SampleYAML.node(String(decoding: text, as: UTF8.self))
        } catch let problem as YAMLEvents.Problem {
            throw SettingSyntaxError("\"\(name)\" line \(problem.line ?? 1): \(problem.reason)")
        }
    }

    /// - Parameter body: nil for GET.
    func ask(_ target: String, _ body: String? = nil, method: String? = nil) throws -> (status: Int, json: JSONValue) {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let request = LocalRequest(
            method: method ?? (body == nil ? "GET" : "POST"), path: "/api/\(parts[0])", query: parts.count > 1 ? parts[1] : "",
            body: Array((body ?? "").utf8))
        guard case .whole(let answer) = self.service.answer(request) else { throw TestProblem("a stream") }
        return (answer.status, try JSONDocument(answer.body).root)
    }

    /// Asks for a change of the list that is in use.
    func change(_ change: String, _ members: String) throws -> (status: Int, json: JSONValue) {
        try self.ask("modify/\(change)", "{\"list\": \(self.engine.list), \(members)}")
    }

    var names: [String] { self.engine.rules.rules.map(\.name) }
}

extension JSONValue {
    /// The message of an error.
    var message: String { self["error"]?["message"]?.string ?? "" }
    var code: String { self["error"]?["code"]?.string ?? "" }
}

/// Reads YAML without aliases.
enum SampleYAML {
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
}
