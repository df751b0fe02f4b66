internal import CassetteTools
internal import Platform
internal import TapeBytes
internal import TapeInspector
internal import TapeProxy
internal import TrafficRules

/// The traffic rules that a page shows, and the messages that they pause.
///
/// The page exists before the proxy, which gives it the time and the verdict on the clients. Any thread may use it.
final class PageRules: Sendable {
    private struct Proxy {
        var elapsed: @Sendable () -> Duration
        var verdict: @Sendable () -> [ClientVerdict.Finding]?
    }

    let engine: RuleEngine
    let desk: PauseDesk
    private let judgesClient: Bool
    private let proxy = Guarded<Proxy?>(nil)

    init(_ engine: RuleEngine, desk: PauseDesk = PauseDesk(), judgesClient: Bool) {
        self.engine = engine
        self.desk = desk
        self.judgesClient = judgesClient
    }

    /// - Parameter settings: where the page saves rules; nil if it cannot.
    func inspected(saving settings: RuleSettings?) -> InspectedRules {
        var rules = InspectedRules(
            engine: self.engine, desk: self.desk, clock: { self.proxy.withLock { $0 }?.elapsed() ?? .zero },
            read: { try RulesText.read($0, name: $1) }, settings: settings)
        if self.judgesClient { rules.verdict = { self.proxy.withLock { $0 }?.verdict() } }
        return rules
    }

    /// There is a proxy.
    func follow(elapsed: @escaping @Sendable () -> Duration, verdict: @escaping @Sendable () -> [ClientVerdict.Finding]?) {
        self.proxy.withLock { $0 = Proxy(elapsed: elapsed, verdict: verdict) }
    }

    /// The page is served. Messages wait while somebody looks at it.
    func opened(isWatched: @escaping @Sendable () -> Bool) { self.desk.setWatched(isWatched) }

    /// The page is served no more. Breaks the cycle between the desk and the page.
    func closed() { self.desk.setWatched { false } }

    /// False on a build server, which sets CI: nobody looks at a page there.
    static var pausesMessages: Bool {
        guard let value = getenv("CI") else { return true }
        return ["", "0", "false"].contains(String(cString: value))
    }
}

/// Rules as people type them: YAML or JSON.
enum RulesText {
    /// - Parameter name: for errors.
    static func read(_ text: [UInt8], name: String) throws(SettingSyntaxError) -> RuleNode {
        do {
            let isJSON = (try? JSONDocument(text)) != nil
            return (isJSON ? try ConfigNode.json(text, file: name) : try ConfigNode.yaml(text, file: name)).ruleNode
        } catch {
            throw SettingSyntaxError(error.message)
        }
    }
}

extension ConfigOptions {
    /// The file into which a page writes rules: the one that the run reads, or else a new one in the working folder. nil if the run reads no
    /// file whatever there is.
    func ruleSettings(_ settings: RunSettings) throws(SettingError) -> RuleSettings? {
        guard !self.noConfig else { return nil }
        let path: String
        if let config { path = config } else { path = try ConfigSearch.system.path() ?? "\(ConfigSearch.workingFolder)/wiretape.yaml" }
        let own = settings[Settings.modify].first { setting in
            guard case .file(let file, _, section: nil) = setting.source else { return false }
            return file == path
        }
        return RuleSettings(
            name: path, rules: own?.value.node,
            folder: CassetteGlob.folder(of: CassetteGlob.absolute(path, in: ConfigSearch.workingFolder)),
            sizeLimit: ConfigFile.sizeLimit,
            load: {
                guard access(path, F_OK) == 0 else { return nil }
                return try Self.reporting { () throws(TrustError) in try WholeFile.read(path, limit: ConfigFile.sizeLimit) }
            },
            replace: { bytes in
                var status = stat()
                let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o644
                // A link stays one.
                let target = realpath(path, nil)
                defer { free(target) }
                let file = target.map { String(cString: $0) } ?? path
                try Self.reporting { () throws(TrustError) in try WholeFile.replace(file, with: bytes, mode: mode) }
            })
    }

    private static func reporting<Result>(_ work: () throws(TrustError) -> Result) throws(SettingSyntaxError) -> Result {
        do {
            return try work()
        } catch {
            throw SettingSyntaxError(error.message)
        }
    }
}
