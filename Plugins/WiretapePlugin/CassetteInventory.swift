import Foundation

/// Finds the cassettes of a package: JSON files in folders named "Cassettes", and in the one that `WIRETAPE_CASSETTES` names.
///
/// Does not look into packages inside the package.
struct CassetteInventory {
    let package: URL
    private let named: URL?

    init(package: URL, environment: [String: String]) {
        self.package = package.standardizedFileURL
        self.named = environment["WIRETAPE_CASSETTES"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0).standardizedFileURL }
    }

    /// Sorted by name.
    func cassettes() -> [CassetteFile] {
        var files: [String: CassetteFile] = [:]
        for folder in self.folders(below: self.package) + [self.named].compactMap({ $0 }) {
            for file in self.files(in: folder) { files[file.path] = CassetteFile(file, name: self.name(of: file)) }
        }
        return files.values.sorted { $0.name < $1.name }
    }

    /// The texts of the package's Swift files, without those of packages inside it.
    func sources() -> [String] { self.sources(below: self.package) }

    private func sources(below folder: URL) -> [String] {
        self.entries(of: folder).flatMap { entry -> [String] in
            guard self.isFolder(entry) else {
                return entry.pathExtension == "swift" ? [(try? String(contentsOf: entry, encoding: .utf8)) ?? ""] : []
            }
            guard !FileManager.default.fileExists(atPath: entry.appendingPathComponent("Package.swift").path) else { return [] }
            return self.sources(below: entry)
        }
    }

    private func folders(below folder: URL) -> [URL] {
        self.entries(of: folder).flatMap { entry -> [URL] in
            guard self.isFolder(entry) else { return [] }
            if entry.lastPathComponent == "Cassettes" { return [entry] }
            guard !FileManager.default.fileExists(atPath: entry.appendingPathComponent("Package.swift").path) else { return [] }
            return self.folders(below: entry)
        }
    }

    private func files(in folder: URL) -> [URL] {
        self.entries(of: folder).flatMap { entry -> [URL] in
            if self.isFolder(entry) { return entry.pathExtension == "bodies" ? [] : self.files(in: entry) }
            return entry.pathExtension == "json" ? [entry] : []
        }
    }

    /// The entries without hidden ones, such as ".build". Links are not followed, since they could form a cycle.
    private func entries(of folder: URL) -> [URL] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { !$0.hasPrefix(".") }.map { folder.appendingPathComponent($0) }
            .filter { (try? FileManager.default.destinationOfSymbolicLink(atPath: $0.path)) == nil }
    }

    private func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private func name(of file: URL) -> String {
        let base = self.package.path + "/"
        return file.path.hasPrefix(base) ? String(file.path.dropFirst(base.count)) : file.path
    }
}

/// A file of the inventory, with its folder of large bodies.
struct CassetteFile {
    /// Parsing JSON takes several times its size in memory.
    static let sizeLimit = 256 << 20

    let url: URL
    /// Relative to the package.
    let name: String
    /// The size of the file and its bodies, in bytes.
    let size: Int
    /// Differs if the file was written again.
    let stamp: String
    let contents: Result<CassetteContents, PluginFailure>

    init(_ url: URL, name: String) {
        self.url = url
        self.name = name
        let attributes = (try? FileManager.default.attributesOfItem(atPath: url.path)) ?? [:]
        let size = (attributes[.size] as? Int) ?? 0
        let date = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
        self.stamp = "\(url.path) \(size) \(date) \((attributes[.systemFileNumber] as? Int) ?? 0)"
        let bodies = Self.bodies(of: url)
        let sizes = ((try? FileManager.default.contentsOfDirectory(atPath: bodies.path)) ?? []).map {
            (try? FileManager.default.attributesOfItem(atPath: bodies.appendingPathComponent($0).path))?[.size] as? Int ?? 0
        }
        self.size = sizes.reduce(size, +)
        guard FileManager.default.fileExists(atPath: url.path) else {
            self.contents = .failure(
                PluginFailure("there is no cassette \"\(visible(name))\": \"swift package wiretape status\" lists them"))
            return
        }
        guard size <= Self.sizeLimit else {
            self.contents = .failure(
                PluginFailure("\"\(visible(name))\" is larger than \(Self.sizeLimit >> 20) MiB: read it with \"wiretape inspect\""))
            return
        }
        guard let data = try? Data(contentsOf: url), let contents = CassetteContents(data) else {
            self.contents = .failure(
                PluginFailure(
                    "\"\(visible(name))\" is damaged, or not a cassette: \"wiretape verify\" says where; restore it, or record it again"))
            return
        }
        self.contents = .success(contents)
    }

    /// The folder of the bodies: "pets.bodies" for "pets.json".
    private static func bodies(of url: URL) -> URL { url.deletingPathExtension().appendingPathExtension("bodies") }

    /// Moves the cassette and its bodies to the same path below a trash folder.
    func move(to trash: URL) throws {
        let target = trash.appendingPathComponent(self.name)
        try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        let bodies = Self.bodies(of: self.url)
        // Bodies first: a cassette without its bodies could not be restored.
        if FileManager.default.fileExists(atPath: bodies.path) { try FileManager.default.moveItem(at: bodies, to: Self.bodies(of: target)) }
        try FileManager.default.moveItem(at: self.url, to: target)
    }

    /// In one line.
    var summary: String {
        switch self.contents {
        case .success(let contents):
            "\(visible(self.name)): \(counted(contents.exchanges.count, "exchange")), \(counted(self.size, "byte"))"
        case .failure: "\(visible(self.name)): damaged, or not a cassette"
        }
    }
}

/// The parts of a cassette that the plugin shows.
///
/// Bodies are shown by `wiretape inspect`.
struct CassetteContents {
    struct Exchange {
        var id: Int
        var method: String
        var url: String
        /// The status, or how the exchange failed.
        var result: String
        var size: Int?
    }

    var recorder: String?
    /// The test that recorded it, such as "ShopTests.Pets/list()".
    var test: String?
    var exchanges: [Exchange]
    /// When the last exchange began.
    var recorded: Date?

    /// Nil if it is not a cassette of a known version.
    init?(_ data: Data) {
        guard let document = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
            let version = document["wiretape"] as? Int, (1...2).contains(version),
            let interactions = document["interactions"] as? [[String: Any]]
        else { return nil }
        self.recorder = document["recorder"] as? String
        self.test = document["test"] as? String
        self.exchanges = []
        let dates = ISO8601DateFormatter()
        for interaction in interactions {
            guard let request = interaction["request"] as? [String: Any], let method = request["method"] as? String,
                let url = request["url"] as? String
            else { return nil }
            let response = interaction["response"] as? [String: Any]
            let outcome = interaction["outcome"] as? [String: Any]
            let status = (response?["status"] as? Int).map(String.init)
            let end = outcome.map { ($0["failed"] as? String).map { "failed: \($0)" } ?? "cut" }
            self.exchanges.append(
                Exchange(
                    id: interaction["id"] as? Int ?? self.exchanges.count + 1, method: method, url: url,
                    result: [status, end].compactMap { $0 }.joined(separator: ", "),
                    size: (response?["body"] as? [String: Any])?["size"] as? Int))
            // The formatter does not accept this many fractional digits.
            guard let started = interaction["started"] as? String, let date = dates.date(from: started.prefix(19) + "Z") else { continue }
            self.recorded = max(self.recorded ?? date, date)
        }
    }

    /// A line for the cassette, and one for each exchange.
    func listing(name: String) -> String {
        var lines = ["\(visible(name)): \(counted(self.exchanges.count, "exchange"))"]
        if let test = self.test { lines[0] += ", recorded by \(visible(test))" }
        for exchange in self.exchanges {
            let size = exchange.size.map { ", \(counted($0, "byte"))" } ?? ""
            lines.append("  \(exchange.id)  \(visible(exchange.method)) \(visible(exchange.url))  \(visible(exchange.result))\(size)")
        }
        return lines.joined(separator: "\n")
    }
}

/// Which cassettes a run of the tests has used.
enum CassetteUses: Equatable {
    enum State: String {
        case used
        /// Its test exists, but has used no cassette: it is disabled, or is not built or run here.
        case skipped
        /// A run of all tests proves that nothing uses it.
        case orphaned
        /// Nothing proves whether it is used.
        case unknown
    }

    /// The result of a run of all tests.
    struct Run: Equatable {
        /// The paths of the cassettes that were opened.
        var paths: Set<String>
        /// The identifiers of the tests that have used a cassette.
        var active: Set<String>
        /// The identifiers of all tests that were built.
        var tests: Set<String>
        /// The texts of the package's Swift files, which include the tests of other platforms.
        var sources: [String] = []
    }

    case known(Run)
    case unknown(String)

    /// - Parameters:
    ///   - list: has a JSON object on each line, as `WIRETAPE_USED_CASSETTES` asks for.
    ///   - tests: as `swift test list` prints them.
    init(list: Data, tests: String, sources: [String] = []) throws {
        var run = Run(paths: [], active: [], tests: [], sources: sources)
        for line in list.split(separator: UInt8(ascii: "\n")) {
            guard let use = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any], let path = use["cassette"] as? String
            else { throw PluginFailure("the list of used cassettes is damaged: run the command again") }
            run.paths.insert(Self.real(path))
            if let test = use["test"] as? String { run.active.insert(Self.plain(test)) }
        }
        run.tests = Set(tests.split(separator: "\n").map { Self.plain(String($0)) })
        self = .known(run)
    }

    func state(of cassette: CassetteFile) -> State {
        guard case .known(let run) = self else { return .unknown }
        if run.paths.contains(Self.real(cassette.url.path)) { return .used }
        // A damaged file may be a recording that someone wants to restore. A cassette that no test recorded may belong to a program that
        // tests do not run, such as the proxy.
        guard case .success(let contents) = cassette.contents, let test = contents.test.map(Self.plain) else { return .unknown }
        if run.active.contains(test) { return .orphaned }
        return run.tests.contains(test) || run.sources.contains { Self.declares(test, in: $0) } ? .skipped : .orphaned
    }

    /// Whether a source file has the function of a test and the names of its suites. In case of doubt, it has.
    private static func declares(_ test: String, in source: String) -> Bool {
        let parts = test.split(separator: ".", maxSplits: 1).dropFirst().joined().split(separator: "/")
        guard let function = parts.last?.prefix(while: { $0 != "(" }) else { return false }
        return (parts.dropLast() + [function]).allSatisfy { source.contains($0) }
    }

    /// The name without what the lists of some versions add: "/PetTests.swift:7:6" after a test of Swift Testing. XCTest's have no
    /// parentheses.
    private static func plain(_ test: String) -> String {
        var name = test[...]
        if let place = name.range(of: "/[^/]+\\.swift:[0-9]+:[0-9]+$", options: .regularExpression) { name = name[..<place.lowerBound] }
        return String(name.hasSuffix("()") ? name.dropLast(2) : name)
    }

    private static func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}

/// The output of `status`.
enum CassetteTable {
    static func text(_ cassettes: [CassetteFile], _ uses: CassetteUses, now: Date) -> String {
        var rows = [["CASSETTE", "EXCHANGES", "BYTES", "AGE", "USE", "TEST"]]
        for cassette in cassettes {
            let use = uses.state(of: cassette).rawValue
            switch cassette.contents {
            case .success(let contents):
                rows.append([
                    visible(cassette.name), "\(contents.exchanges.count)", "\(cassette.size)",
                    contents.recorded.map { Self.age(from: $0, to: now) } ?? "-", use, contents.test.map(visible) ?? "-",
                ])
            case .failure: rows.append([visible(cassette.name), "damaged", "\(cassette.size)", "-", use, "-"])
            }
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }.joined(separator: "  ")
                .trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }

    private static func age(from date: Date, to now: Date) -> String {
        let seconds = max(0, Int(now.timeIntervalSince(date)))
        switch seconds {
        case ..<3600: return "\(seconds / 60) min"
        case ..<86400: return "\(seconds / 3600) h"
        default: return counted(seconds / 86400, "day")
        }
    }
}

func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
